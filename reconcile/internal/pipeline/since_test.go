package pipeline_test

import (
	"context"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/reconcilekit/reconcilekit/internal/widget"
	"github.com/reconcilekit/reconcilekit/reconcile"
	"github.com/reconcilekit/reconcilekit/reconcile/since"
)

var _ = Describe("The recorded start of a state", func() {
	const annotation = "example.com/idle-since"
	idle := since.Fact{Annotation: annotation, For: time.Minute}

	It("survives restarts and foreign writes during the wait", func() {
		ctx := context.Background()
		holds := true
		var state since.State
		var w *world
		stored := func() *corev1.ConfigMap {
			o := &corev1.ConfigMap{}
			err := env.Client().Get(ctx, client.ObjectKey{Namespace: w.widget.Namespace, Name: w.widget.Name + "-timed"}, o)
			Expect(client.IgnoreNotFound(err)).To(Succeed())
			return o
		}

		author := &widgets{plan: func(rc reconcile.ReconcileContext[*widget.Widget], plan *reconcile.PlanResult) {
			state = idle.Of(stored(), holds, rc.Now)
			child := part(rc.Object, "timed")
			state.Mark(child)
			plan.Apply(child, state.Rules())
			plan.RequeueAt = state.At
		}}
		w = newWorld(widget.Spec{}, author)
		// The API server sets the creation time by its own clock. A fact is never older than the object.
		w.clock.SetTime(w.clock.Now().Add(time.Minute))
		w.settle()
		began := state.Since
		Expect(stored().Annotations).To(HaveKeyWithValue(annotation, began.Format(time.RFC3339)))

		w.clock.SetTime(w.clock.Now().Add(40 * time.Second))
		w.restart(author)
		result, err := w.pass()
		Expect(err).NotTo(HaveOccurred())
		Expect(state.Since).To(Equal(began))
		Expect(state.Due).To(BeFalse())
		Expect(result.RequeueAfter).To(BeNumerically("~", 20*time.Second, time.Second), "the rest of the wait")
		w.clock.SetTime(w.clock.Now().Add(21 * time.Second))
		w.settle()
		Expect(state.Due).To(BeTrue())

		By("replacing a time in the far future or an invalid time")
		for _, value := range []string{"9999-12-31T23:59:59Z", "never"} {
			o := stored()
			base := o.DeepCopy()
			o.Annotations[annotation] = value
			Expect(env.Client().Patch(ctx, o, client.MergeFrom(base))).To(Succeed())
			w.settle()
			Expect(state.Since).To(Equal(w.clock.Now().UTC().Truncate(time.Second)))
			w.clock.SetTime(w.clock.Now().Add(61 * time.Second))
			w.settle()
			Expect(state.Due).To(BeTrue())
		}

		By("removing the record when the state ends")
		holds = false
		w.settle()
		Expect(stored().Annotations).NotTo(HaveKey(annotation))
	})
})
