package pipeline_test

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	ctrl "sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/reconcilekit/reconcilekit/internal/widget"
	"github.com/reconcilekit/reconcilekit/reconcile"
	"github.com/reconcilekit/reconcilekit/reconcile/internal/pipeline"
)

// phaseLog records the phases.
type phaseLog struct{ phases []reconcile.Phase }

func (l *phaseLog) PhaseStart(ctx context.Context, phase reconcile.Phase) context.Context {
	l.phases = append(l.phases, phase)
	return ctx
}
func (*phaseLog) PhaseDone(context.Context, reconcile.Phase, time.Duration, error) {}
func (*phaseLog) PassDone(context.Context, reconcile.Report)                       {}

// TestDeletedOwner checks which phases run for an owner that is being deleted.
func TestDeletedOwner(t *testing.T) {
	t.Parallel()
	const own, others = "example.com/widgets", "example.com/others"
	finalized := []reconcile.Phase{
		reconcile.PhaseFetch, reconcile.PhaseApply, reconcile.PhaseWriteStatus,
	}
	finalizedByPhase := slices.Insert(slices.Clone(finalized), 1, reconcile.PhaseFinalize)
	usual := []reconcile.Phase{
		reconcile.PhaseFetch, reconcile.PhaseCompose, reconcile.PhasePlan, reconcile.PhaseHealth, reconcile.PhaseApply, reconcile.PhaseDecorate,
		reconcile.PhaseWriteStatus,
	}
	plain, final := &widgets{}, &cleaner{}
	for name, tc := range map[string]struct {
		finalizers       []string
		reconcileDeleted bool
		reconciler       reconcile.Reconciler[*widget.Widget, fetched, observation]
		want             []reconcile.Phase
	}{
		"kept by others":                          {[]string{others}, false, plain, nil},
		"kept by others, with the option":         {[]string{others}, true, plain, usual},
		"kept by others, Finalize":                {[]string{others}, false, final, nil},
		"kept by others, with both":               {[]string{others}, true, final, usual},
		"kept by the controller":                  {[]string{own}, false, plain, finalized},
		"kept by the controller, with option":     {[]string{own}, true, plain, finalized},
		"kept by both, with the option":           {[]string{others, own}, true, plain, finalized},
		"kept by both, Finalize":                  {[]string{others, own}, false, final, finalizedByPhase},
		"kept by both, with both":                 {[]string{others, own}, true, final, finalizedByPhase},
		"kept by garbage collection":              {[]string{metav1.FinalizerDeleteDependents}, false, plain, nil},
		"kept by garbage collection, with option": {[]string{metav1.FinalizerDeleteDependents}, true, plain, usual},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			now := metav1.Now()
			s := &stored{widget: &widget.Widget{ObjectMeta: metav1.ObjectMeta{
				Namespace: "default", Name: "demo", UID: types.UID("1"), ResourceVersion: "1", Generation: 1, DeletionTimestamp: &now,
				Finalizers: tc.finalizers,
			}}}
			log := &phaseLog{}
			loop, err := pipeline.New(tc.reconciler, pipeline.Config{
				Name: "widgets", FieldManager: "widgets", Reader: s, Applier: s, StatusWriter: s, Observer: log,
				Finalizer: own, ReconcileDeleted: tc.reconcileDeleted,
			})
			if err != nil {
				t.Fatal(err)
			}
			if _, err := loop.Reconcile(t.Context(), ctrl.Request{NamespacedName: client.ObjectKeyFromObject(s.widget)}); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, log.phases); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

var _ = Describe("An owner that is being deleted and kept by another controller", func() {
	ctx := context.Background()

	It("can be planned without a finalizer of the engine", func() {
		// The plan deletes one object and reports the deletion in another one.
		reconciler := &widgets{plan: func(rc reconcile.ReconcileContext[*widget.Widget], plan *reconcile.PlanResult) {
			*plan = reconcile.PlanResult{}
			if rc.Object.DeletionTimestamp.IsZero() {
				plan.Apply(part(rc.Object, "account"))
				return
			}
			plan.Delete(part(rc.Object, "account"))
			plan.Apply(part(rc.Object, "farewell"))
		}}
		w := newWorld(widget.Spec{}, reconciler)
		w.reconcileDeleted = true
		w.restart(reconciler)
		w.update(func(o *widget.Widget) { o.Finalizers = []string{"example.com/others"} })
		w.settle()
		Expect(w.widget.Finalizers).To(ConsistOf("example.com/others"))
		Expect(w.parts()).To(ConsistOf("demo-account"))

		Expect(env.Client().Delete(ctx, w.widget)).To(Succeed())
		w.settle()
		Expect(w.parts()).To(ConsistOf("demo-farewell"))
		Expect(w.widget.Finalizers).To(ConsistOf("example.com/others"))
		Expect(w.condition("Ready").Status).To(Equal(metav1.ConditionTrue))
		Expect(w.widget.Status.Count).To(Equal(1), "DecorateStatus is called as usual")
		w.restart(reconciler)
		w.settle()
		Expect(w.parts()).To(ConsistOf("demo-farewell"))

		By("rejecting a child that garbage collection does not delete")
		reconciler.plan = func(_ reconcile.ReconcileContext[*widget.Widget], plan *reconcile.PlanResult) {
			*plan = reconcile.PlanResult{}
			plan.Apply(&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: w.widget.Namespace}})
		}
		_, _ = w.pass()
		Expect(w.condition("Ready").Message).To(ContainSubstring("garbage collection does not reach it"))
		Expect(w.widget.Finalizers).To(ConsistOf("example.com/others"))

		w.update(func(o *widget.Widget) { o.Finalizers = nil })
		_, err := w.pass()
		Expect(err).NotTo(HaveOccurred())
		Expect(client.IgnoreNotFound(env.Client().Get(ctx, client.ObjectKeyFromObject(w.widget), &widget.Widget{}))).To(Succeed())
	})
})
