package controller_test

import (
	"context"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/manager"

	"github.com/reconcilekit/reconcilekit/internal/widget"
	"github.com/reconcilekit/reconcilekit/reconcile"
	"github.com/reconcilekit/reconcilekit/reconcile/controller"
)

var _ = Describe("The writes of a reconciliation", func() {
	It("are logged with verb, object, reason and fields, and an event reports the deletion of a workload", func(ctx context.Context) {
		namespace, c, log := env.Namespace(GinkgoTB()), admin(), &lines{}
		p := &probe{plan: func(o *widget.Widget, _ world) (plan reconcile.PlanResult) {
			secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: o.Namespace, Name: "secret"}}
			secret.Data = map[string][]byte{"key": []byte("hunter2-" + o.Spec.Message)}
			plan.Apply(secret)
			if o.Spec.Message == "" {
				plan.Apply(pod(o))
				plan.Apply(configMap(o.Namespace, "settings", nil))
			}
			return plan
		}}
		runs{logger: log.logger()}.start(namespace, func(mgr manager.Manager) error {
			return controller.New("write-log", p).
				Owns(&corev1.Secret{}).
				Owns(&corev1.Pod{}).
				Owns(&corev1.ConfigMap{}).
				Options(settings()).Build().
				SetupWithManager(mgr)
		})
		w := newWidget(namespace, "w")
		Expect(c.Create(ctx, w)).To(Succeed())
		line := func(verb, kind string) string {
			return `"msg"="wrote".*"verb"="` + verb + `" "kind"="` + kind + `" "target"=.*"reason"="`
		}
		Eventually(log.String).WithTimeout(soon).Should(And(
			MatchRegexp(line("record", "Widget")+"Inventory"),
			MatchRegexp(line("create", "Secret")+"Missing"),
			MatchRegexp(line("create", "Pod")+"Missing"),
		))
		p.settled(ctx, "w")
		Expect(change(ctx, c, w, func(w *widget.Widget) { w.Spec.Message = "changed" })).To(Succeed())
		Eventually(log.String).WithTimeout(soon).Should(And(
			MatchRegexp(line("update", "Secret")+`PlanChanged" "fields"=\["\.data\.key"\]`),
			MatchRegexp(line("prune", "Pod")+"NotPlanned"),
			MatchRegexp(line("prune", "ConfigMap")+"NotPlanned"),
		))
		Eventually(events).WithArguments(ctx, c, namespace).WithTimeout(soon).
			Should(ContainSubstring("Normal Pruned 1 deleted, as the plan does not name them any more: Pod " + namespace + "/child"))
		Expect(log.String()).NotTo(Or(ContainSubstring("hunter2"), ContainSubstring("aHVudGVy")))
		Expect(client.IgnoreNotFound(c.Get(ctx, client.ObjectKey{Namespace: namespace, Name: "child"}, &corev1.Pod{}))).To(Succeed())
	})
})
