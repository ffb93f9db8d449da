package applied_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/reconcilekit/reconcilekit/health"
	"github.com/reconcilekit/reconcilekit/reconcile/apply"
	"github.com/reconcilekit/reconcilekit/reconcile/internal/applied"
)

func TestWaiting(t *testing.T) {
	t.Parallel()
	object := func(namespace, name string, change func(*apply.ObjectResult)) apply.ObjectResult {
		o := apply.ObjectResult{Decision: apply.Decision{
			GVK: schema.GroupVersionKind{Version: "v1", Kind: "ConfigMap"}, Key: types.NamespacedName{Namespace: namespace, Name: name},
		}}
		change(&o)
		return o
	}
	terminating := func(o *apply.ObjectResult) {
		o.Outcome, o.Reason = apply.OutcomeBlocked, apply.ReasonNamespaceTerminating
	}
	held := func(o *apply.ObjectResult) { o.Outcome, o.WaitsUntil = apply.OutcomeWaiting, "the database is up" }
	none := func(*apply.ObjectResult) {}
	for name, c := range map[string]struct {
		objects []apply.ObjectResult
		want    health.Component
	}{
		"nothing": {[]apply.ObjectResult{object("a", "x", none)}, health.Component{}},
		"a condition of the plan": {[]apply.ObjectResult{object("a", "x", held)}, health.Component{
			State: health.Progressing, Reason: "Waiting", Message: "ConfigMap a/x waits until the database is up", Immediate: true,
		}},
		"namespaces that are being deleted": {
			[]apply.ObjectResult{object("a", "x", terminating), object("a", "y", terminating), object("b", "x", terminating), object("c", "x", held)},
			health.Component{
				State: health.Progressing, Reason: "NamespaceTerminating", Immediate: true,
				Message: "namespace a is being deleted, and nothing can be created in it; namespace b is being deleted, and nothing can be created in it",
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := applied.Waiting(&apply.Result{Objects: c.objects})
			if diff := cmp.Diff(c.want, got, cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}
