package recording_test

import (
	"context"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/reconcilekit/reconcilekit/internal/widget"
	"github.com/reconcilekit/reconcilekit/reconcile"
	"github.com/reconcilekit/reconcilekit/reconcile/internal/pipeline"
	"github.com/reconcilekit/reconcilekit/reconcile/internal/recording"
)

// tidy has work of its own at deletion.
type tidy struct{ shop }

func (tidy) Finalize(
	_ context.Context, rc reconcile.ReconcileContext[*widget.Widget], _ seen,
) (plan reconcile.PlanResult, _ error) {
	plan.Delete(&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: rc.Object.Namespace, Name: "elsewhere"}})
	return plan, nil
}

// renamed moves a field.
type renamed struct{ shop }

func (renamed) Migrate(w *widget.Widget) { w.Spec.Message, w.Spec.Ref = w.Spec.Ref, "" }

// rewriting stores an owner in another form.
type rewriting struct{ *engine }

func (rewriting) Rewrite(context.Context, client.Object, client.Object) (bool, error) {
	return true, nil
}

// broken panics.
type broken struct{ shop }

func (broken) PlanResources(
	context.Context, reconcile.ReconcileContext[*widget.Widget], seen,
) (plan reconcile.PlanResult, _ error) {
	panic("no plan")
}

// later is a reader that does not know yet.
type later struct{ client.Reader }

func (r later) List(context.Context, client.ObjectList, ...client.ListOption) error {
	return &pipeline.NotYetError{What: "the list"}
}

// Passes that take another way replay, too.
func TestReplayOfOtherPasses(t *testing.T) {
	t.Parallel()
	deleted := owner("")
	deleted.Finalizers = []string{"test/finalizer"}
	deleted.DeletionTimestamp = &metav1.Time{Time: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)}
	for name, c := range map[string]struct {
		change func(c *pipeline.Config[*widget.Widget, seen, seen])
		owner  *widget.Widget
		want   string
	}{
		"deletion": {func(c *pipeline.Config[*widget.Widget, seen, seen]) { c.Reconciler = tidy{} }, deleted, `"name": "elsewhere"`},
		"migration": {func(c *pipeline.Config[*widget.Widget, seen, seen]) {
			c.Reconciler, c.StatusWriter = renamed{}, rewriting{&engine{}}
		}, owner("old"), `"migrated": {`},
		"panic":   {func(c *pipeline.Config[*widget.Widget, seen, seen]) { c.Reconciler = broken{} }, owner(""), "phase PlanResources panicked: no plan"},
		"not yet": {func(c *pipeline.Config[*widget.Widget, seen, seen]) { c.Reader = later{c.Reader} }, owner(""), `"notYet": "the list"`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			made := config(shop{}, &engine{}, c.owner)
			made.Finalizer = "test/finalizer"
			c.change(&made)
			text := recorded(t, made)
			if !strings.Contains(text, c.want) {
				t.Errorf("want %s in the recording:\n%s", c.want, text)
			}
			r, err := recording.Decode(strings.NewReader(text))
			if err != nil {
				t.Fatal(err)
			}
			out, err := recording.Replay(t.Context(), made, r, replaying())
			if err != nil {
				t.Fatal(err)
			}
			if again, err := out.Encode(); err != nil || string(again) != text {
				t.Errorf("the replay is another one (%v):\n%s", err, again)
			}
		})
	}
}
