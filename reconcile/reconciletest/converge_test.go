package reconciletest_test

import (
	"slices"
	"testing"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest"
	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/check"
)

func TestConvergePasses(t *testing.T) {
	t.Parallel()
	t.Run("with the library", func(t *testing.T) {
		t.Parallel()
		system := shopSystem()
		system.Optional = []schema.GroupKind{{Kind: "Service"}}
		reconciletest.Converge(t, system)
	})
	t.Run("without the library", func(t *testing.T) {
		t.Parallel()
		reconciletest.Converge(t, plainSystem(noBug))
	})
}

// TestConvergeCatches checks that the fault of each reconciler is found by the check for it.
func TestConvergeCatches(t *testing.T) {
	t.Parallel()
	for b, check := range map[bug]check.Check{
		gateOnCreated:  check.State,
		lateInventory:  check.Orphan,
		cachedCount:    check.Orphan,
		deleteByName:   check.Foreign,
		swallowedError: check.State,
		statusFirst:    check.Status,
		lateFinalizer:  check.Orphan,
		mapOrder:       check.Quiet,
		hotRetry:       check.Rest,
		pruneOnFailure: check.Deletes,
	} {
		t.Run(string(b), func(t *testing.T) {
			t.Parallel()
			out, err := reconciletest.Explore(t.Context(), plainSystem(b))
			if err != nil {
				t.Fatal(err)
			}
			caught := slices.ContainsFunc(out.Findings, func(f reconciletest.Finding) bool { return f.Check == check })
			if !caught {
				t.Errorf("%d cases, none found by the check %q; findings: %v", out.Cases, check, out.Findings)
			}
			if len(out.Findings) > 0 {
				t.Logf("%d findings, the first: %s", len(out.Findings), out.Findings[0])
			}
		})
	}
}
