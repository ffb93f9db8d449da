package pipeline_test

import (
	"context"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	ctrl "sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/reconcilekit/reconcilekit/health"
	"github.com/reconcilekit/reconcilekit/internal/widget"
	"github.com/reconcilekit/reconcilekit/reconcile/apply"
	"github.com/reconcilekit/reconcilekit/reconcile/internal/pipeline"
)

// stored is a fake reader and applier with one widget. It records the writes.
type stored struct {
	client.Reader
	pipeline.Applier
	pipeline.StatusWriter

	widget  *widget.Widget
	blocked *apply.PruneBlockedError
	refuse  error // the error of the status write
}

func (s *stored) Get(_ context.Context, _ client.ObjectKey, obj client.Object, _ ...client.GetOption) error {
	*obj.(*widget.Widget) = *s.widget.DeepCopyObject().(*widget.Widget)
	return nil
}

func (s *stored) Apply(context.Context, client.Object, apply.Plan) apply.Result {
	return apply.Result{PruneBlocked: s.blocked}
}

func (s *stored) WriteStatus(_ context.Context, before, after client.Object, _ []string) (bool, error) {
	if s.refuse != nil {
		return false, s.refuse
	}
	changed := !cmp.Equal(before.(*widget.Widget).Status, after.(*widget.Widget).Status)
	s.widget.Status = after.(*widget.Widget).Status
	return changed, nil
}

func (s *stored) types() []string {
	var types []string
	for _, c := range s.widget.Status.Conditions {
		types = append(types, c.Type)
	}
	return types
}

// staleRun runs reconciliations of the stored widget.
type staleRun struct {
	*stored
	t          *testing.T
	reconciler *widgets
	pipeline   ctrl.Reconciler
}

func newStaleRun(t *testing.T, fields ...metav1.ManagedFieldsEntry) *staleRun {
	t.Helper()
	r := &staleRun{t: t, reconciler: &widgets{}, stored: &stored{widget: &widget.Widget{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: "default", Name: "demo", UID: types.UID("1"), ResourceVersion: "1", Generation: 1, ManagedFields: fields,
		},
		Status: widget.Status{Conditions: []metav1.Condition{{Type: "Backup", Status: metav1.ConditionTrue, Reason: "Done"}}},
	}}}
	r.restart()
	return r
}

func (r *staleRun) restart() {
	r.t.Helper()
	var err error
	r.pipeline, err = pipeline.New(r.reconciler, pipeline.Config{
		Name: "widgets", FieldManager: "widgets", Reader: r.stored, Applier: r.stored, StatusWriter: r.stored,
	})
	if err != nil {
		r.t.Fatal(err)
	}
}

func (r *staleRun) pass() error {
	_, err := r.pipeline.Reconcile(r.t.Context(), ctrl.Request{NamespacedName: client.ObjectKeyFromObject(r.widget)})
	return err
}

func (r *staleRun) expect(when string, want ...string) {
	r.t.Helper()
	if err := r.pass(); err != nil {
		r.t.Fatal(err)
	}
	if diff := cmp.Diff(want, r.types()); diff != "" {
		r.t.Errorf("%s: conditions (-want +got):\n%s", when, diff)
	}
}

// extra adds or removes a component of the owner.
func (r *staleRun) extra(there bool) {
	r.reconciler.compose = func(o observation) observation {
		if there {
			o.extra = []health.Component{{Name: "Extra", State: health.Ready}}
		}
		return o
	}
}

func statusFields(manager, conditions string) metav1.ManagedFieldsEntry {
	return metav1.ManagedFieldsEntry{
		Manager: manager, Operation: metav1.ManagedFieldsOperationUpdate, Subresource: "status",
		FieldsV1: &metav1.FieldsV1{Raw: []byte(`{"f:status":{"f:conditions":` + conditions + `}}`)},
	}
}

var errNotNow = errors.New("not now")

const wholeList = `{}` // the entry for an atomic list

// TestStaleConditions checks the removal of conditions whose owner is unknown, because the list is atomic or managedFields are stripped.
func TestStaleConditions(t *testing.T) {
	t.Parallel()
	ready := []string{"Ready", "Backup"}
	for name, fields := range map[string][]metav1.ManagedFieldsEntry{
		"atomic list": {statusFields("widgets", wholeList)}, "no managedFields": nil,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newStaleRun(t, fields...)
			r.blocked = &apply.PruneBlockedError{Reason: apply.ReasonPruneFailed}
			r.extra(true)
			r.expect("with a component and a prune that failed",
				"Ready", "Backup", "ExtraReady", pipeline.PruneBlocked)
			r.blocked = nil
			r.extra(false)
			r.refuse = errNotNow
			if err := r.pass(); err == nil {
				t.Error("want the error of the status write")
			}
			r.refuse = nil
			r.expect("with neither", ready...)
			r.expect("and again", ready...)
		})
	}
}

func TestStalePruneBlockedAfterRestart(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		fields metav1.ManagedFieldsEntry
		gone   bool
	}{
		"list last written by this controller":    {statusFields("widgets", wholeList), true},
		"list last written by another controller": {statusFields("others", wholeList), false},
		"condition of this controller":            {statusFields("widgets", `{"k:{\"type\":\"PruneBlocked\"}":{".":{}}}`), true},
		"condition of another controller":         {statusFields("others", `{"k:{\"type\":\"PruneBlocked\"}":{".":{}}}`), false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newStaleRun(t, tc.fields)
			r.blocked = &apply.PruneBlockedError{Reason: apply.ReasonPruneFailed}
			want := []string{"Ready", "Backup", pipeline.PruneBlocked}
			r.expect("blocked", want...)
			r.restart()
			r.blocked = nil
			if tc.gone {
				want = want[:len(want)-1]
			}
			r.expect("after a restart, no longer blocked", want...)
		})
	}
}
