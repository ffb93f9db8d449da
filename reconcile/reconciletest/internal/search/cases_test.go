package search_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/internal/finding"
	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/internal/search"
)

func TestSeed(t *testing.T) { //nolint:paralleltest // sets the environment
	for text, want := range map[string]uint64{"": 1, "0": 0, "7": 7, "18446744073709551615": 1<<64 - 1} {
		t.Setenv(search.EnvSeed, text)
		if got, err := search.Seed(); got != want || err != nil {
			t.Errorf("%q: %d, %v, want %d", text, got, err, want)
		}
	}
	for _, text := range []string{"-1", "x", "1.5", "18446744073709551616"} {
		t.Setenv(search.EnvSeed, text)
		if got, err := search.Seed(); err == nil || !strings.Contains(err.Error(), `RECONCILETEST_SEED: got "`+text+`", want a number from 0`) {
			t.Errorf("%q: %d, %v", text, got, err)
		}
	}
}

// TestCasesOfEnvironment checks the variable for the number of cases. An invalid value and an unknown case are errors.
func TestCasesOfEnvironment(t *testing.T) { //nolint:paralleltest // sets the environment
	for _, c := range []struct{ cases, seed, only, want string }{
		{cases: "0", want: `RECONCILETEST_CASES: got "0", want all or a number from 1`},
		{cases: "some", want: `RECONCILETEST_CASES: got "some", want all or a number from 1`},
		{seed: "some", want: `RECONCILETEST_SEED: got "some"`},
		{only: "A: something else", want: `RECONCILETEST_CASE: the system has no case "A: something else"`},
	} {
		t.Setenv(search.EnvCases, c.cases)
		t.Setenv(search.EnvSeed, c.seed)
		t.Setenv(finding.EnvCase, c.only)
		if _, err := search.Explore(t.Context(), ofOne(copier(ofItsName))); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v: %v", c, err)
		}
	}
}

// TestDraw checks that the requested number of cases runs, the same ones with the same seed.
func TestDraw(t *testing.T) { //nolint:paralleltest // sets the environment
	t.Setenv(search.EnvCases, "4")
	one := explore(t, ofOne(copier(ofItsName)))
	if again := explore(t, ofOne(copier(ofItsName))); one.Passes != again.Passes || one.Left != again.Left || one.Calls != again.Calls {
		t.Errorf("%+v, then %+v", one, again)
	}
	if one.Cases != 4 || one.Left == 0 || one.Calls == 0 || len(one.Trace) != 0 {
		t.Errorf("%d cases, %d are left of %d calls; trace %v", one.Cases, one.Left, one.Calls, one.Trace)
	}
}

// TestOneCase checks that a single case prints a trace of its requests. A run without faults prints none.
func TestOneCase(t *testing.T) { //nolint:paralleltest // sets the environment
	t.Setenv(finding.EnvCase, "A: timeout of create secrets default/of-shop#1")
	out := explore(t, ofOne(copier(ofItsName)))
	want := []string{
		"pass 1: create secrets default/of-shop#1: Timeout: the response was lost: injected by the test", "2 passes",
	}
	for i := range out.Trace {
		out.Trace[i], _, _ = strings.Cut(out.Trace[i], " (")
	}
	if diff := cmp.Diff(want, out.Trace); diff != "" || out.Cases != 1 || len(out.Findings) > 0 {
		t.Errorf("%d cases, %v (-want +got):\n%s", out.Cases, out.Findings, diff)
	}
	t.Setenv(finding.EnvCase, "no fault, A")
	if out := explore(t, ofOne(copier(ofItsName))); out.Cases != 0 || out.Trace != nil {
		t.Errorf("%d cases, %v", out.Cases, out.Trace)
	}
}
