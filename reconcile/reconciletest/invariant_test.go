package reconciletest_test

import (
	"slices"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"

	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest"
	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/check"
)

// TestInvariants checks that an invariant of the user is checked for each stored version, and that a violation is reported.
func TestInvariants(t *testing.T) {
	t.Parallel()
	rules := reconciletest.System{
		Invariants: []reconciletest.Invariant{
			reconciletest.Always("a Deployment has at least one replica", func(d *appsv1.Deployment) bool { return *d.Spec.Replicas > 0 }),
		},
		Accepted: []reconciletest.Acceptance{
			{Check: check.State, About: "spec.replicas", Reason: "an autoscaler sets the replicas"},
		},
	}
	right := appSystem("replicas owned by an autoscaler")
	right.Invariants, right.Accepted, right.Cases = rules.Invariants, rules.Accepted, 5
	reconciletest.Converge(t, right)

	wrong := appSystem("")
	wrong.Invariants = []reconciletest.Invariant{
		reconciletest.Never("a Deployment with three replicas", func(d *appsv1.Deployment) bool { return *d.Spec.Replicas == 3 }),
	}
	out, err := reconciletest.ExploreUntil(t.Context(), wrong, check.Invariant)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.ContainsFunc(out.Findings, func(f reconciletest.Finding) bool {
		return f.Check == check.Invariant && strings.Contains(f.String(), "never: a Deployment with three replicas")
	}) {
		t.Errorf("no finding names the rule: %v", out.Findings)
	}
}
