package pipeline_test

import (
	"context"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/reconcilekit/reconcilekit/conditions"
	"github.com/reconcilekit/reconcilekit/internal/widget"
	"github.com/reconcilekit/reconcilekit/reconcile"
	"github.com/reconcilekit/reconcilekit/reconcile/apply"
	"github.com/reconcilekit/reconcilekit/reconcile/internal/pipeline"
)

// overriding is a fake applier that reports a field with another value than planned.
type overriding struct {
	stored
	result apply.Result
}

func (o *overriding) Apply(context.Context, client.Object, apply.Plan) apply.Result { return o.result }

// TestOverriddenFieldIsInReady checks that the condition Ready names a planned field with another value, unless it already reports an error.
func TestOverriddenFieldIsInReady(t *testing.T) {
	t.Parallel()
	fields := []apply.FieldChange{{Path: ".data.a", From: `"x"`, To: `"y"`}}
	for name, c := range map[string]struct {
		object     apply.ObjectResult
		reconciler reconcile.Reconciler[*widget.Widget, fetched, observation]
		status     metav1.ConditionStatus
		reason     string
	}{
		"as planned":    {apply.ObjectResult{Outcome: apply.OutcomeUnchanged}, &widgets{}, metav1.ConditionTrue, "AllComponentsReady"},
		"overridden":    {apply.ObjectResult{Outcome: apply.OutcomeUnchanged, Overridden: fields}, &widgets{}, metav1.ConditionTrue, pipeline.ReasonOverridden},
		"with an error": {apply.ObjectResult{Outcome: apply.OutcomeFailed, Overridden: fields, Decision: apply.Decision{Err: errors.New("refused")}}, &widgets{}, metav1.ConditionFalse, "UnknownError"},
		"the product sets its own message": {
			apply.ObjectResult{Outcome: apply.OutcomeUnchanged, Overridden: fields},
			&decorated{decorate: func(_ *widget.Status, cm *conditions.Manager) { cm.MarkTrue(conditions.Ready, "Mine", "all is well") }},
			metav1.ConditionTrue, "Mine",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := &overriding{result: apply.Result{Objects: []apply.ObjectResult{c.object}}, stored: stored{widget: &widget.Widget{ObjectMeta: metav1.ObjectMeta{
				Namespace: "default", Name: "demo", UID: types.UID("1"), ResourceVersion: "1", Generation: 1,
			}}}}
			loop, err := pipeline.New(c.reconciler, pipeline.Config{Name: "widgets", FieldManager: "widgets", Reader: o, Applier: o, StatusWriter: o})
			if err != nil {
				t.Fatal(err)
			}
			_, _ = loop.Reconcile(t.Context(), ctrl.Request{NamespacedName: client.ObjectKeyFromObject(o.widget)})
			for _, ready := range o.widget.Status.Conditions {
				if ready.Type == conditions.Ready {
					if diff := cmp.Diff([]string{string(c.status), c.reason}, []string{string(ready.Status), ready.Reason}); diff != "" {
						t.Errorf("(-want +got):\n%s\n%s", diff, ready.Message)
					}
					return
				}
			}
			t.Error("there is no condition Ready")
		})
	}
}
