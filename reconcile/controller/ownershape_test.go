package controller_test

import (
	"context"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/reconcilekit/reconcilekit/health"
	"github.com/reconcilekit/reconcilekit/reconcile"
	"github.com/reconcilekit/reconcilekit/reconcile/controller"
)

// following plans a ConfigMap for each owner of a built-in kind. It ignores objects that existed before the specs.
type following[T reconcile.Owner] struct{ namespace string }

type followed struct{ own, invalid bool }

func (o followed) GetComponentHealth(context.Context) []health.Component {
	if !o.own {
		return nil
	}
	copied := health.Component{Name: "Copy", Reason: "Copied", Message: "There is a copy"}
	if o.invalid {
		copied.Errors = []error{health.NewError(health.InvalidSpec, "NoCopies", "No copies are wanted any more", nil)}
	}
	return []health.Component{copied}
}

func (f following[T]) FetchRemoteState(_ context.Context, _ reconcile.Reader, rc reconcile.ReconcileContext[T]) followed {
	wanted := rc.Object.GetLabels()["copied"]
	return followed{own: wanted != "", invalid: wanted == "no"}
}

func (f following[T]) PlanResources(
	_ context.Context, rc reconcile.ReconcileContext[T], o followed,
) (plan reconcile.PlanResult, _ error) {
	if o.own {
		plan.Apply(configMap(f.namespace, "of-"+rc.Object.GetName(), nil))
	}
	return plan, nil
}

// podConditions stores the condition types of this controller in Pods. The kubelet writes the others, for example Ready.
type podConditions struct{ following[*corev1.Pod] }

var _ reconcile.ConditionAdapter[*corev1.Pod] = podConditions{}

func (podConditions) GetConditions(pod *corev1.Pod) (out []metav1.Condition) {
	for _, c := range pod.Status.Conditions {
		if c.Type == "CopyReady" {
			out = append(out, metav1.Condition{
				Type: string(c.Type), Status: metav1.ConditionStatus(c.Status), Reason: c.Reason, Message: c.Message,
				LastTransitionTime: c.LastTransitionTime,
			})
		}
	}
	return out
}

func (podConditions) SetConditions(pod *corev1.Pod, list []metav1.Condition) {
	for _, c := range list {
		if c.Type == "CopyReady" {
			pod.Status.Conditions = append(pod.Status.Conditions[:0:0], corev1.PodCondition{
				Type: "CopyReady", Status: corev1.ConditionStatus(c.Status), Reason: c.Reason, Message: c.Message,
				LastTransitionTime: c.LastTransitionTime,
			})
		}
	}
}

var _ = Describe("An owner whose type does not implement the library's interfaces", func() {
	labels := map[string]string{"copied": "yes"}
	copied := func(ctx context.Context, c client.Client, namespace string, owner client.Object) func() error {
		return func() error {
			return c.Get(ctx, client.ObjectKey{Namespace: namespace, Name: "of-" + owner.GetName()}, &corev1.ConfigMap{})
		}
	}

	It("stores conditions if the type has a field for them", func(ctx context.Context) {
		namespace, c := env.Namespace(GinkgoTB()), admin()
		runs{}.start(namespace, controller.New("services", following[*corev1.Service]{namespace}).Owns(&corev1.ConfigMap{}).Options(settings()).Build().SetupWithManager)
		service := &corev1.Service{
			ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "s", Labels: labels}, Spec: corev1.ServiceSpec{Ports: []corev1.ServicePort{{Port: 80}}},
		}
		Expect(c.Create(ctx, service)).To(Succeed())
		Eventually(copied(ctx, c, namespace, service)).WithTimeout(soon).Should(Succeed())
		Eventually(func() []metav1.Condition {
			_ = c.Get(ctx, client.ObjectKeyFromObject(service), service)
			return service.Status.Conditions
		}).WithTimeout(soon).Should(ConsistOf(
			And(HaveField("Type", "Ready"), HaveField("Status", metav1.ConditionTrue)), And(HaveField("Type", "CopyReady"), HaveField("Status", metav1.ConditionTrue)),
		))
	})

	It("stores no conditions if the type has no field for them, and reports them as events", func(ctx context.Context) {
		namespace, c := env.Namespace(GinkgoTB()), admin()
		runs{}.start(namespace, controller.New("service-accounts", following[*corev1.ServiceAccount]{namespace}).
			Owns(&corev1.ConfigMap{}).Options(settings()).Build().SetupWithManager)
		account := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "a", Labels: labels}}
		Expect(c.Create(ctx, account)).To(Succeed())
		Eventually(copied(ctx, c, namespace, account)).WithTimeout(soon).Should(Succeed())
		Expect(change(ctx, c, account, func(a *corev1.ServiceAccount) { a.Labels["copied"] = "no" })).To(Succeed())
		Eventually(func() (reasons []string) {
			var events corev1.EventList
			_ = c.List(ctx, &events, client.InNamespace(namespace))
			for i := range events.Items {
				if events.Items[i].InvolvedObject.UID == account.UID {
					reasons = append(reasons, events.Items[i].Reason)
				}
			}
			return reasons
		}).WithTimeout(soon).Should(ContainElement("InvalidSpec"))
	})

	It("stores the conditions that its reconciler converts next to those of other writers", func(ctx context.Context) {
		namespace, c := env.Namespace(GinkgoTB()), admin()
		runs{}.start(namespace, controller.New("pods", podConditions{following[*corev1.Pod]{namespace}}).Owns(&corev1.ConfigMap{}).Options(settings()).Build().SetupWithManager)
		pod := &corev1.Pod{
			ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "p", Labels: labels},
			Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "c", Image: "c"}}},
		}
		Expect(c.Create(ctx, pod)).To(Succeed())
		Eventually(copied(ctx, c, namespace, pod)).WithTimeout(soon).Should(Succeed())
		conditions := func() (types []string) {
			_ = c.Get(ctx, client.ObjectKeyFromObject(pod), pod)
			for _, condition := range pod.Status.Conditions {
				types = append(types, string(condition.Type)+"="+string(condition.Status))
			}
			return types
		}
		Eventually(conditions).WithTimeout(soon).Should(ConsistOf("CopyReady=True"))
		before := pod.DeepCopy()
		pod.Status.Conditions = append(pod.Status.Conditions, corev1.PodCondition{Type: corev1.PodReady, Status: corev1.ConditionFalse})
		Expect(c.Status().Patch(ctx, pod, client.StrategicMergeFrom(before), client.FieldOwner("kubelet"))).To(Succeed())
		Consistently(conditions).WithTimeout(pause).Should(ConsistOf("CopyReady=True", "Ready=False"))
		Expect(change(ctx, c, pod, func(p *corev1.Pod) { p.Labels = nil })).To(Succeed())
		Eventually(copied(ctx, c, namespace, pod)).WithTimeout(soon).ShouldNot(Succeed())
		Consistently(conditions).WithTimeout(pause).Should(ContainElement("Ready=False"))
	})
})
