package reconciletest_test

import (
	"encoding/json"
	"math/rand/v2"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest"
	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/internal/baseline"
	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/internal/description"
	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/internal/faults"
	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/internal/run"
	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/internal/transport"
)

const drawnOnServer = 12 // number of cases of each baseline that run on the real API server

// TestFaultsOnBothServers runs the same faults on the fake and on a real API server. The operator must send the same writes, and the final state must be that without
// a fault. A difference is a bug of the fake API server. The date selects the cases; RECONCILETEST_CASES=all runs all of them.
func TestFaultsOnBothServers(t *testing.T) {
	if testing.Short() {
		t.Skip("repeats each case on an API server")
	}
	t.Parallel()
	env.Require(t)
	seed, err := strconv.ParseUint(os.Getenv(reconciletest.EnvSeed), 10, 64)
	if err != nil {
		seed = uint64(time.Now().YearDay()) //nolint:gosec // from 1
	}
	t.Logf("%s=%d", reconciletest.EnvSeed, seed)
	draw := rand.New(rand.NewPCG(seed, 0))
	for _, steps := range [][]description.Step{
		{description.StepA}, {description.StepA, description.StepB}, {description.StepA, description.StepDelete},
	} {
		fake, server := executedOn(t, false), executedOn(t, true)
		base, plan := fake(t, run.Spec{Steps: steps, At: len(steps) - 1}), server(t, run.Spec{Steps: steps, At: len(steps) - 1})
		if diff := cmp.Diff(base.writes, plan.writes); diff != "" {
			t.Fatalf("%s without a fault: writes (-fake +server):\n%s", baseline.NameOf(steps), diff)
		}
		cases := (&faults.Draw{System: base.system, Seed: seed}).Cases(base.baseline)
		draw.Shuffle(len(cases), func(i, j int) { cases[i], cases[j] = cases[j], cases[i] })
		// Stand-ins that wait until the operator is idle need the revision of the fake API server.
		cases = slices.DeleteFunc(cases, func(c baseline.Case) bool { return c.Final != c.Base.Last() || c.Spec.Variant.Slow })
		if os.Getenv(reconciletest.EnvCases) != "all" {
			cases = cases[:min(drawnOnServer, len(cases))]
		}
		for _, c := range cases {
			t.Run(c.Name, func(t *testing.T) {
				t.Parallel()
				want, got := fake(t, c.Spec), server(t, c.Spec)
				if want.happened != got.happened {
					t.Errorf("the fault happens: on the fake API server %t, on the real one %t", want.happened, got.happened)
				}
				if diff := cmp.Diff(want.writes, got.writes); diff != "" {
					t.Errorf("writes (-fake +server):\n%s", diff)
				}
				if replaces(c) {
					return // an object that replaced a child is kept
				}
				if diff := cmp.Diff(plan.end, got.end); diff != "" {
					t.Errorf("end on the server (-without the fault +with it):\n%s", diff)
				}
			})
		}
	}
}

var applySetID = regexp.MustCompile(`applyset-[\w-]+-v1`) // derived from the owner's namespace

// result is the result of a run on one API server, with the namespace replaced by default.
type result struct {
	system   *description.Prepared
	baseline *baseline.Baseline
	writes   []string
	happened bool // whether the fault happened
	end      string
}

// executedOn runs the shop on the fake or on the real API server.
func executedOn(t *testing.T, server bool) func(t *testing.T, p run.Spec) result {
	t.Helper()
	s := shopSystem()
	if server {
		s.Environment = env
	}
	system, err := description.Prepare(s)
	if err != nil {
		t.Fatal(err)
	}
	return func(t *testing.T, p run.Spec) result {
		t.Helper()
		namespace := system.Namespace(t)
		p.Variant.Inject = injectedIn(namespace, p.Variant.Inject)
		r := run.Execute(t.Context(), system, p, namespace)
		if r.Last != nil {
			defer r.Last.End()
		}
		if r.Err != nil {
			t.Fatal(r.Err)
		}
		out := result{system: &system, baseline: baseline.Of(p.Steps, r), happened: r.FaultHappened}
		for _, request := range transport.Sent(r.Calls).Writes() {
			out.writes = append(out.writes, r.Cluster.Plain(request.String()))
		}
		slices.Sort(out.writes)
		state, err := r.Cluster.State()
		if err != nil {
			t.Fatal(err)
		}
		text, err := json.MarshalIndent(state, "", " ")
		if err != nil {
			t.Fatal(err)
		}
		out.end = applySetID.ReplaceAllString(strings.ReplaceAll(string(text), namespace, description.TestNamespace), "applyset-of-the-owner")
		return out
	}
}

// replaces reports whether another client replaces an object that the operator deletes.
func replaces(c baseline.Case) bool {
	return slices.ContainsFunc(c.Spec.Variant.Inject, func(n *transport.Injection) bool { return n.Fault == transport.FaultReplaced })
}

var inTest = regexp.MustCompile(" " + description.TestNamespace + "(/|#|$)") // matches the namespace in a request

// injectedIn returns a copy of the faults for a run in a namespace.
func injectedIn(namespace string, all []*transport.Injection) []*transport.Injection {
	out := make([]*transport.Injection, len(all))
	for n, fault := range all {
		own := *fault
		own.Call = inTest.ReplaceAllString(own.Call, " "+namespace+"$1")
		out[n] = &own
	}
	return out
}
