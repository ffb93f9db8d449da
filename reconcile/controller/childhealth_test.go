package controller_test

import (
	"context"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/reconcilekit/reconcilekit/conditions"
	"github.com/reconcilekit/reconcilekit/health"
	"github.com/reconcilekit/reconcilekit/internal/widget"
	"github.com/reconcilekit/reconcilekit/reconcile"
	"github.com/reconcilekit/reconcilekit/reconcile/controller"
)

var _ = Describe("A controller that reports components next to its children", func() {
	It("sets the conditions of both, and none for children while the apply is blocked", func(ctx context.Context) {
		namespace, c := env.Namespace(GinkgoTB()), admin()
		p := &probe{
			fetch: func(_ context.Context, _ reconcile.Reader, o *widget.Widget) (w world) {
				switch o.Spec.Message {
				case "waiting":
					w.err = health.NewError(health.MissingDownstreamDependency, "NoWorld", "it is being created", nil)
				case "invalid":
					w.err = health.NewError(health.InvalidSpec, "NoWorld", "there is no such world", nil)
				}
				return w
			},
			plan: func(o *widget.Widget, _ world) (plan reconcile.PlanResult) {
				plan.Apply(serverDeployment(o))
				return plan
			},
		}
		options := settings()
		options.InspectChildren = true
		declared := controller.New("components", p).Owns(&appsv1.Deployment{}).Options(options).Build()
		runs{}.start(namespace, declared.SetupWithManager)
		w := newWidget(namespace, "w")
		w.Spec.Message = "waiting"
		Expect(c.Create(ctx, w)).To(Succeed())

		reported := func() (list []string) {
			Expect(c.Get(ctx, client.ObjectKeyFromObject(w), w)).To(Succeed())
			for _, condition := range w.Status.Conditions {
				list = append(list, condition.Type+"="+string(condition.Status))
			}
			return list
		}
		Eventually(reported).WithTimeout(soon).Should(ConsistOf("Ready=False", "WorldReady=False", "DeploymentReady=False", "Reconciling=True"))
		Expect(meta.FindStatusCondition(w.Status.Conditions, conditions.Ready).Message).
			To(HavePrefix("Waiting for World: it is being created; Deployment/w: "))

		By("blocking the apply")
		Expect(change(ctx, c, w, func(o *widget.Widget) { o.Spec.Message = "invalid" })).To(Succeed())
		Eventually(reported).WithTimeout(soon).Should(ContainElement("ConfigValid=False"))
		Expect(reported()).To(ContainElement("DeploymentReady=False"), "what was last known")

		By("reporting readiness")
		deployment := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "w"}}
		Expect(c.Get(ctx, client.ObjectKeyFromObject(deployment), deployment)).To(Succeed())
		deployment.Status = appsv1.DeploymentStatus{
			ObservedGeneration: deployment.Generation, Replicas: 1, UpdatedReplicas: 1, ReadyReplicas: 1, AvailableReplicas: 1,
			Conditions: []appsv1.DeploymentCondition{{Type: appsv1.DeploymentAvailable, Status: "True"}},
		}
		Expect(c.Status().Update(ctx, deployment)).To(Succeed())
		Expect(change(ctx, c, w, func(o *widget.Widget) { o.Spec.Message = "here" })).To(Succeed())
		Eventually(reported).WithTimeout(soon).Should(ConsistOf("Ready=True", "DeploymentReady=True", "ConfigValid=True"))
	})
})
