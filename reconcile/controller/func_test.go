package controller_test

import (
	"context"
	"maps"
	"strings"
	"testing"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/reconcilekit/reconcilekit/health"
	"github.com/reconcilekit/reconcilekit/internal/widget"
	"github.com/reconcilekit/reconcilekit/reconcile"
	"github.com/reconcilekit/reconcilekit/reconcile/apply"
	"github.com/reconcilekit/reconcilekit/reconcile/controller"
)

type widgetPass = reconcile.ReconcileContext[*widget.Widget]

// planCopied plans a Deployment whose labels, annotations and Pod template have the owner's metadata.
func planCopied(_ context.Context, rc widgetPass) (plan reconcile.PlanResult, _ error) {
	selected := map[string]string{"widget": rc.Object.Name}
	labels := maps.Clone(selected)
	maps.Copy(labels, rc.Object.Labels)
	plan.Apply(&appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Namespace: rc.Object.Namespace, Name: rc.Object.Name, Labels: labels, Annotations: rc.Object.Annotations},
		Spec: appsv1.DeploymentSpec{
			Selector: &metav1.LabelSelector{MatchLabels: selected},
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: labels, Annotations: rc.Object.Annotations},
				Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "web", Image: "nginx:1.29"}}},
			},
		},
	})
	return plan, nil
}

var _ = Describe("A controller that is a function", func() {
	It("adopts a Deployment that has the owner's metadata without restarting Pods", func(ctx context.Context) {
		namespace, c := env.Namespace(GinkgoTB()), admin()
		owner := newWidget(namespace, "w")
		owner.Labels = map[string]string{"team": "red"}
		owner.Annotations = map[string]string{"example.com/note": "copied"}
		Expect(c.Create(ctx, owner)).To(Succeed())
		By("creating the child as a former operator")
		plan, err := planCopied(ctx, widgetPass{Object: owner})
		Expect(err).NotTo(HaveOccurred())
		child := plan.Children[0].Object.(*appsv1.Deployment)
		yes := true
		child.OwnerReferences = []metav1.OwnerReference{ownerReference("test.reconcilekit.dev/v1", "Widget", "w", owner.UID, &yes)}
		Expect(c.Create(ctx, child, client.FieldOwner("former"))).To(Succeed())
		before := child.DeepCopy()

		options := settings()
		options.FormerManagers = []string{"former"}
		runs{}.start(namespace, controller.Func("takeover", planCopied).Owns(&appsv1.Deployment{}).Options(options).Build().SetupWithManager)
		Eventually(func() (string, error) {
			err := c.Get(ctx, client.ObjectKeyFromObject(child), child)
			return child.Labels[apply.PartOfLabel], err
		}).WithTimeout(soon).ShouldNot(BeEmpty())
		Eventually(func() ([]metav1.Condition, error) {
			err := c.Get(ctx, client.ObjectKeyFromObject(owner), owner)
			return owner.Status.Conditions, err
		}).WithTimeout(soon).ShouldNot(BeEmpty())
		By("changing the owner, so that a reconciliation reads it with the inventory")
		Expect(change(ctx, c, owner, func(w *widget.Widget) { w.Spec.Message = "again" })).To(Succeed())
		Eventually(func() (int64, error) {
			err := c.Get(ctx, client.ObjectKeyFromObject(owner), owner)
			return owner.Status.ObservedGeneration, err
		}).WithTimeout(soon).Should(Equal(owner.Generation))

		Expect(owner.Labels).To(HaveKey("applyset.kubernetes.io/id"), "the engine keeps its inventory on the owner")
		Expect(c.Get(ctx, client.ObjectKeyFromObject(child), child)).To(Succeed())
		Expect(child.Generation).To(Equal(before.Generation), "a change of the Pod template restarts Pods")
		Expect(child.Spec.Template).To(Equal(before.Spec.Template))
		Expect(child.Annotations).To(Equal(before.Annotations))
	})
})

// withoutHealth plans a Deployment and a ConfigMap, and reports no health.
type withoutHealth struct{ fromNothing }

func (withoutHealth) PlanResources(ctx context.Context, rc widgetPass, _ struct{}) (reconcile.PlanResult, error) {
	plan, err := planCopied(ctx, rc)
	plan.Apply(configMap(rc.Object.Namespace, "settings", nil))
	return plan, err
}

var _ = Describe("A reconciler without GetComponentHealth", func() {
	It("reports the health of its children in the status, with the inspector of a kind", func(ctx context.Context) {
		namespace, c := env.Namespace(GinkgoTB()), admin()
		noted := func(settings *corev1.ConfigMap) health.Component {
			if settings.Labels["noted"] == "" {
				return health.Component{State: health.Pending, Reason: "NotNoted", Message: "nobody has noted it"}
			}
			return health.Component{State: health.Ready, Reason: "Noted"}
		}
		runs{}.start(namespace, controller.New("without-health", withoutHealth{}).
			Owns(&appsv1.Deployment{}).
			Owns(&corev1.ConfigMap{}, controller.Inspector(noted)).
			Options(settings()).Build().SetupWithManager)
		w := newWidget(namespace, "w")
		Expect(c.Create(ctx, w)).To(Succeed())
		Eventually(readyMessage).WithArguments(ctx, c, w).WithTimeout(soon).Should(And(
			ContainSubstring("Ready: False"), ContainSubstring("DeploymentReady: False"),
			ContainSubstring("ConfigMapReady: False NotNoted: settings: nobody has noted it")))

		By("making the children ready")
		web, changed := &appsv1.Deployment{}, configMap(namespace, "settings", map[string]string{"noted": "yes"})
		Expect(c.Get(ctx, client.ObjectKey{Namespace: namespace, Name: "w"}, web)).To(Succeed())
		web.Status = appsv1.DeploymentStatus{
			ObservedGeneration: web.Generation, Replicas: 1, UpdatedReplicas: 1, ReadyReplicas: 1, AvailableReplicas: 1,
			Conditions: []appsv1.DeploymentCondition{{Type: appsv1.DeploymentAvailable, Status: corev1.ConditionTrue}},
		}
		Expect(c.Status().Update(ctx, web)).To(Succeed())
		Expect(c.Patch(ctx, changed, client.Merge)).To(Succeed())
		Eventually(readyMessage).WithArguments(ctx, c, w).WithTimeout(soon).Should(And(
			ContainSubstring("Ready: True"), ContainSubstring("DeploymentReady: True"), ContainSubstring("ConfigMapReady: True Noted")))
	})
})

func TestFunc(t *testing.T) {
	t.Parallel()
	described, err := controller.Func("function", planCopied).Owns(&appsv1.Deployment{}).Build().Describe(testScheme(t))
	if err != nil {
		t.Fatal(err)
	}
	if described.Controller != "function" {
		t.Errorf("got controller %q", described.Controller)
	}
	if _, err := controller.Func[*widget.Widget]("function", nil).Build().Describe(testScheme(t)); err == nil || !strings.Contains(err.Error(), "the reconciler is nil") {
		t.Errorf("a nil function: got %v", err)
	}
}

func TestConflictingOptions(t *testing.T) {
	t.Parallel()
	options := controller.Options{FieldManager: "shop", Apply: apply.Options{FieldManager: "bank"}}
	_, err := controller.Func("function", planCopied).Options(options).Build().Describe(testScheme(t))
	if err == nil || !strings.Contains(err.Error(), `options: FieldManager is "shop" and Apply.FieldManager is "bank"`) {
		t.Errorf("got %v", err)
	}
}
