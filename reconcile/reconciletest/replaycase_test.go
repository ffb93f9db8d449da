package reconciletest_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest"
)

func explore(t *testing.T, system reconciletest.System) *reconciletest.Exploration {
	t.Helper()
	out, err := reconciletest.Explore(t.Context(), system)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// TestCaseRunsAlone checks that a case has the same findings when it runs alone.
func TestCaseRunsAlone(t *testing.T) {
	if testing.Short() {
		t.Skip("explores four faulty operators")
	}
	for b, part := range map[bug]string{
		lateFinalizer: "crash of", deleteByName: "replaced of", cachedCount: "passes behind", hotRetry: "no fault",
	} {
		t.Run(string(b), func(t *testing.T) {
			all := explore(t, plainSystem(b))
			at := slices.IndexFunc(all.Findings, func(f reconciletest.Finding) bool { return strings.Contains(f.Case, part) })
			if at < 0 {
				t.Fatalf("want a finding with %q, got %v", part, all.Findings)
			}
			name := all.Findings[at].Case
			want := slices.DeleteFunc(slices.Clone(all.Findings), func(f reconciletest.Finding) bool { return f.Case != name })
			t.Setenv(reconciletest.EnvCase, name)
			alone := explore(t, plainSystem(b))
			if diff := cmp.Diff(want, alone.Findings); diff != "" {
				t.Errorf("the findings of %q alone (-among all +alone):\n%s", name, diff)
			}
			if part != "no fault" && (alone.Cases != 1 || len(alone.Trace) == 0) {
				t.Errorf("want one case with its trace, got %d cases and %d lines", alone.Cases, len(alone.Trace))
			}
			fails(t, "RECONCILETEST_CASE='"+name+"' go test -run '^TestCaseRunsAlone$/^", func(tb testing.TB) {
				reconciletest.Converge(tb, plainSystem(b))
			})
		})
	}
}

func TestCaseThatDoesNotExist(t *testing.T) {
	t.Setenv(reconciletest.EnvCase, "A: error of nothing#1")
	if out, err := reconciletest.Explore(t.Context(), plainSystem(noBug)); err == nil || !strings.Contains(err.Error(), `no case "A: error of nothing#1"`) {
		t.Errorf("want an error that names the case, got %v and %v", out, err)
	}
}

// TestCasesAreSampled checks that a limit selects random cases, the same for the same seed.
func TestCasesAreSampled(t *testing.T) {
	system := plainSystem(noBug)
	all := explore(t, system)
	system.Cases = 20
	some, again := explore(t, system), explore(t, system)
	if some.Cases != system.Cases || some.Cases+some.Left != all.Cases || all.Left != 0 {
		t.Errorf("want %d of %d cases, got %d and %d left", system.Cases, all.Cases, some.Cases, some.Left)
	}
	if some.Passes != again.Passes {
		t.Errorf("want the same cases for one seed, got %d and %d passes", some.Passes, again.Passes)
	}
	t.Setenv(reconciletest.EnvCases, "all")
	if out := explore(t, system); out.Cases != all.Cases {
		t.Errorf("want all %d cases, got %d", all.Cases, out.Cases)
	}
	t.Setenv(reconciletest.EnvCases, "many")
	if _, err := reconciletest.Explore(t.Context(), system); err == nil || !strings.Contains(err.Error(), "want all or a number") {
		t.Errorf("want an error that says what would be right, got %v", err)
	}
	t.Setenv(reconciletest.EnvCases, "")
	t.Setenv(reconciletest.EnvSeed, "-1")
	if _, err := reconciletest.Explore(t.Context(), system); err == nil || !strings.Contains(err.Error(), "RECONCILETEST_SEED") {
		t.Errorf("want an error that names the variable, got %v", err)
	}
}
