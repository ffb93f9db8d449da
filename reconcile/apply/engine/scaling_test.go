package engine_test

import (
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	autoscalingv1 "k8s.io/api/autoscaling/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/reconcilekit/reconcilekit/reconcile/apply"
	"github.com/reconcilekit/reconcilekit/reconcile/scaling"
)

var _ = Describe("Replicas that operator and autoscaler set", func() {
	It("are scaled to zero and back by the operator, and otherwise by the autoscaler, with stale caches and restarts", func() {
		w := newWorld()
		stored := func() int32 { return *w.deployment("scaled").Spec.Replicas }
		// plan uses the last observed replicas, which can be old.
		plan := func(seen *int32, want scaling.Want) func() apply.Plan {
			return func() (s apply.Plan) {
				replicas, rules := scaling.Replicas(seen, want)
				d := deployment("scaled")
				d.Spec.Replicas = &replicas
				s.Apply(d, rules)
				return s
			}
		}
		autoscale := func(to int32) {
			d := deployment("scaled")
			d.Namespace = w.namespace
			scale := &autoscalingv1.Scale{Spec: autoscalingv1.ScaleSpec{Replicas: to}}
			Expect(w.admin.SubResource("scale").Update(w.ctx, d, client.WithSubResourceBody(scale), client.FieldOwner("autoscaler"))).To(Succeed())
		}
		own, shared := scaling.Want{Replicas: 3}, scaling.Want{Replicas: 2, Autoscaled: true}
		stopped := scaling.Want{Replicas: 2, Autoscaled: true, Zero: true}
		three, zero := int32(3), int32(0)

		w.converge(plan(nil, own))
		Expect(stored()).To(Equal(three))
		By("adding an autoscaler")
		w.converge(plan(&three, shared))
		Expect(stored()).To(Equal(three), "taken over as it is")
		autoscale(7)
		for _, seen := range []int32{7, 3, 0} { // the last two come from a stale cache
			w.converge(plan(&seen, shared))
			w.restart()
			w.converge(plan(&seen, shared))
			Expect(stored()).To(BeNumerically("==", 7))
		}
		By("scaling to zero")
		w.converge(plan(&three, stopped))
		Expect(stored()).To(Equal(zero))
		w.restart()
		w.converge(plan(&zero, stopped))
		w.quiet(3, plan(&zero, stopped))
		By("scaling up again")
		w.converge(plan(&zero, shared))
		Expect(stored()).To(BeNumerically("==", 2))
		autoscale(5)
		w.converge(plan(&zero, shared))
		Expect(stored()).To(BeNumerically("==", 5))
		By("removing the autoscaler")
		five := int32(5)
		w.converge(plan(&five, own))
		Expect(stored()).To(Equal(three))
		w.quiet(3, plan(&three, own))
	})
})
