package models

import (
	"testing"
	"time"

	"github.com/reconcilekit/reconcilekit/conditions"
	"github.com/reconcilekit/reconcilekit/reconcile"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"

	maasv1alpha1 "github.com/reconcilekit/reconcilekit/examples/maas/api/v1alpha1"
)

// TestServed checks that a model counts as existing until its deletion begins.
func TestServed(t *testing.T) {
	t.Parallel()
	m := Model{Key: Key("llm", "chat")}
	m.Ref.Value, m.Route.Value = &maasv1alpha1.MaaSModelRef{}, &gatewayv1.HTTPRoute{}
	if !m.Served() {
		t.Errorf("a model with a route counts as missing: %s", m.Gone())
	}
	m.Ref.Value.DeletionTimestamp = &metav1.Time{Time: time.Unix(1, 0)}
	if m.Served() || m.Gone() == "" {
		t.Error("a model that is being deleted counts as existing")
	}
}

// TestState checks that a policy is ready when all conditions of its kind are true.
func TestState(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		conditions map[string]string
		want       maasv1alpha1.Reason
	}{
		"silent":       {nil, maasv1alpha1.ReasonConditionsNotFound},
		"only one":     {map[string]string{"Accepted": "True"}, maasv1alpha1.ReasonNotEnforced},
		"not accepted": {map[string]string{"Accepted": "False", "Enforced": "True"}, maasv1alpha1.ReasonNotAccepted},
		"both":         {map[string]string{"Accepted": "True", "Enforced": "True"}, maasv1alpha1.ReasonAcceptedEnforced},
	} {
		var list []any
		for kind, status := range c.conditions {
			list = append(list, map[string]any{"type": kind, "status": status})
		}
		policy := &unstructured.Unstructured{Object: map[string]any{"status": map[string]any{"conditions": list}}}
		got := Access.State(Key("llm", "chat"), reconcile.FetchResult[*unstructured.Unstructured]{Value: policy})
		if got.Reason != c.want || got.Ready != (name == "both") {
			t.Errorf("%s: got %s, ready %t, want %s", name, got.Reason, got.Ready, c.want)
		}
	}
}

// TestTally checks that a rejected part makes a member Failed, even if other parts are only degraded.
func TestTally(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		tally  Tally
		want   maasv1alpha1.Phase
		reason maasv1alpha1.Reason
	}{
		"without a spec":             {Tally{}, maasv1alpha1.PhaseFailed, maasv1alpha1.ReasonReconcileFailed},
		"well":                       {Tally{All: 2}, maasv1alpha1.PhaseActive, maasv1alpha1.ReasonReconciled},
		"one policy without a model": {Tally{All: 2, Missing: 1}, maasv1alpha1.PhaseDegraded, maasv1alpha1.ReasonPartialFailure},
		"no policy with a model":     {Tally{All: 2, Missing: 2}, maasv1alpha1.PhaseFailed, maasv1alpha1.ReasonReconcileFailed},
		"one model without a policy": {Tally{All: 2, Unready: 1}, maasv1alpha1.PhaseDegraded, maasv1alpha1.ReasonPartialFailure},
		"refused":                    {Tally{All: 2, Missing: 1, Failed: "too many"}, maasv1alpha1.PhaseFailed, maasv1alpha1.ReasonReconcileFailed},
	} {
		cm := conditions.NewManager(nil, 1, time.Unix(1, 0))
		got := c.tally.Announce(cm)
		ready, _ := cm.Get(conditions.Ready)
		if got != c.want || ready.Reason != string(c.reason) || (ready.Status == metav1.ConditionTrue) != (got == maasv1alpha1.PhaseActive) {
			t.Errorf("%s: got %s, %s %s, want %s, %s", name, got, ready.Status, ready.Reason, c.want, c.reason)
		}
	}
}
