package faults_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/internal/baseline"
	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/internal/description"
	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/internal/faults"
	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/internal/transport"
	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/internal/view"
	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/requests"
)

func calls(all ...string) (out []transport.Call) {
	for _, text := range all {
		verb, name, _ := strings.Cut(text, " ")
		out = append(out, transport.Call{Request: requests.Request{Verb: verb, Resource: "configmaps", Namespace: "default", Name: name}})
	}
	return out
}

func baselineOf(steps []description.Step, all ...transport.Call) *baseline.Baseline {
	return &baseline.Baseline{Name: baseline.NameOf(steps), Steps: steps, Calls: all, Kinds: []string{"ConfigMap"}}
}

// about returns the names of the cases about requests, without their common prefix.
func about(cases []baseline.Case) (out []string) {
	for _, c := range cases {
		if len(c.Spec.Variant.Inject) == 1 {
			_, name, _ := strings.Cut(c.Name, ": ")
			out = append(out, strings.ReplaceAll(name, " configmaps default/", " "))
		}
	}
	return out
}

// TestRequests checks that each request fails with each fault of its verb, at each step.
func TestRequests(t *testing.T) {
	t.Parallel()
	changes := func(client.Object) {}
	for name, c := range map[string]struct {
		system description.System
		steps  []description.Step
		call   string
		want   []string
	}{
		"a read": {description.System{}, []description.Step{"A"}, "get a", []string{"error of get a#0"}},
		"a delete of a change": {description.System{Owners: []client.Object{&corev1.ConfigMap{}}, Change: changes}, []description.Step{"A", "B"}, "delete a", []string{
			"error of delete a#0", "timeout of delete a#0", "conflict of delete a#0", "crash of delete a#0",
			"crash of delete a#0, then A", "crash of delete a#0, then delete", "replaced of delete a#0",
			"403 always of delete a", "500 webhook several times of delete a",
		}},
		"a create": {description.System{Owners: []client.Object{&corev1.ConfigMap{}}, Change: changes}, []description.Step{"A"}, "create a", []string{
			"error of create a#0", "timeout of create a#0", "conflict of create a#0", "crash of create a#0", "crash of create a#0, and again with the next write",
			"crash of create a#0, then B", "crash of create a#0, then delete", "owner deleted just before of create a#0", "owner changed just before of create a#0",
			"403 always of create a", "500 webhook several times of create a",
		}},
		"a create of a singleton": {description.System{Singleton: &description.Singleton{}, Horizon: 1}, []description.Step{"A"}, "create a", []string{
			"error of create a#0", "timeout of create a#0", "conflict of create a#0", "crash of create a#0", "crash of create a#0, and again with the next write",
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			draw := faults.Draw{System: &description.Prepared{System: c.system}}
			if diff := cmp.Diff(c.want, about(draw.Cases(baselineOf(c.steps, calls(c.call)...)))); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// TestFinalStep checks that a case whose fault changes or deletes the owner, or that another step follows, ends like that step.
func TestFinalStep(t *testing.T) {
	t.Parallel()
	draw := faults.Draw{System: &description.Prepared{System: description.System{Owners: []client.Object{&corev1.ConfigMap{}}, Change: func(client.Object) {}}}}
	for _, c := range draw.Cases(baselineOf([]description.Step{"A"}, calls("create a")...)) {
		want, steps := description.StepA, []description.Step{"A"}
		switch {
		case strings.Contains(c.Name, "owner changed"):
			want = description.StepB
		case strings.Contains(c.Name, "owner deleted"):
			want = description.StepDelete
		case strings.HasSuffix(c.Name, "then B"):
			want, steps = description.StepB, []description.Step{"A", "B"}
		case strings.HasSuffix(c.Name, "then delete"):
			want, steps = description.StepDelete, []description.Step{"A", "delete"}
		}
		if c.Final != want || !slices.Equal(c.Spec.Steps, steps) || c.Spec.Unseen != (len(steps) > 1) || c.Spec.At != 0 {
			t.Errorf("%s: ends with %s after %v, at %d, unseen: %t", c.Name, c.Final, c.Spec.Steps, c.Spec.At, c.Spec.Unseen)
		}
	}
}

// TestRefusals checks that only the first of many requests are tried, and each write once with a lasting rejection, with alternating responses.
func TestRefusals(t *testing.T) {
	t.Parallel()
	var many []transport.Call
	for n := range baseline.ManyCalls + 5 {
		many = append(many, calls(fmt.Sprintf("update %d", n%10))...)
	}
	draw := faults.Draw{System: &description.Prepared{}}
	cases := draw.Cases(baselineOf([]description.Step{"A", "B"}, many...))
	lasting := map[string]int{}
	kinds := map[transport.Fault]bool{}
	for _, c := range cases {
		if len(c.Spec.Variant.Inject) == 1 && c.Spec.Variant.Inject[0].Lasting != 0 {
			lasting[c.Spec.Variant.Inject[0].Call]++
			kinds[c.Spec.Variant.Inject[0].Fault] = true
		}
	}
	if draw.Calls != baseline.ManyCalls || len(lasting) != 10 || lasting["update configmaps default/3"] != 2 || len(kinds) != len(transport.Lasting()) {
		t.Errorf("%d calls, refused %v, by %d answers", draw.Calls, lasting, len(kinds))
	}
}

// TestPairs checks that the seed selects two faults of a run, and that a named case is found with any seed.
func TestPairs(t *testing.T) {
	t.Parallel()
	pairs := func(draw faults.Draw, steps ...description.Step) (out []string, left int) {
		draw.System = &description.Prepared{}
		for _, c := range draw.Cases(baselineOf(steps, calls("create a", "get a", "update a")...)) {
			if len(c.Spec.Variant.Inject) == 2 {
				out = append(out, c.Name)
			}
		}
		return out, draw.Unpaired
	}
	one, left := pairs(faults.Draw{Seed: 1}, "A")
	if len(one) != 40 || len(slices.Compact(slices.Sorted(slices.Values(one)))) != 40 {
		t.Errorf("%d pairs, %d are left", len(one), left)
	}
	again, _ := pairs(faults.Draw{Seed: 1}, "A")
	other, _ := pairs(faults.Draw{Seed: 2}, "A")
	if !slices.Equal(one, again) || slices.Equal(one, other) {
		t.Error("the seed does not determine the sample")
	}
	if none, _ := pairs(faults.Draw{Seed: 1}, "A", "B", "A"); none != nil {
		t.Errorf("of a reverted change: %v", none)
	}
	for _, name := range []string{
		"A: error of create configmaps default/a#0, and crash of update configmaps default/a#0",
		"A: timeout of update configmaps default/a#0, and error of update configmaps default/a#1", // sent again
		"A: crash of update configmaps default/a#0, and error of update configmaps default/a#0",   // by another instance
	} {
		if got, _ := pairs(faults.Draw{Only: name}, "A"); !slices.Equal(got, []string{name}) {
			t.Errorf("asked for %s, got %v", name, got)
		}
	}
	if got, _ := pairs(faults.Draw{Only: "A: something else"}, "A"); got != nil {
		t.Errorf("of another case: %v", got)
	}
}

// TestDisorders checks how each disorder changes events, and that dropped events are sent later.
func TestDisorders(t *testing.T) {
	t.Parallel()
	events := make([]view.Event, 40)
	for n := range events {
		u := &unstructured.Unstructured{}
		u.SetName(fmt.Sprint(n))
		events[n].After = u
	}
	names := func(all []view.Event) (out []string) {
		for _, e := range all {
			out = append(out, e.After.GetName())
		}
		return out
	}
	in := names(events)
	draw := faults.Draw{System: &description.Prepared{}}
	seen := map[string]bool{}
	for _, c := range draw.Cases(baselineOf([]description.Step{"A"})) {
		v := c.Spec.Variant
		if v.Shake == nil {
			continue
		}
		out := names(v.Shake(slices.Clone(events)))
		kind := strings.Fields(strings.TrimPrefix(c.Name, "A: "))
		dropped := slices.Contains(kind, "dropped")
		seen[strings.Join(out, " ")] = true
		switch {
		case kind[1] == "doubled" && len(out) != 80, kind[1] == "reversed" && (len(out) != 40 || out[0] != "39"),
			kind[1] == "shuffled" && (slices.Equal(in, out) || len(slices.Compact(slices.Sorted(slices.Values(out)))) != 40),
			kind[0] == "all" && len(out) > 0, kind[1] == "dropped" && (len(out) == 0 || len(out) == 40), v.Resync != dropped:
			t.Errorf("%s: resync: %t, %v", c.Name, v.Resync, out)
		}
	}
	if len(seen) != 9 {
		t.Errorf("%d different disorders, want 9", len(seen))
	}
	if got := names(events); !slices.Equal(in, got) {
		t.Errorf("the events were changed to %v", got)
	}
}

// TestDelays checks that all caches lag together and each alone, and that a baseline with several steps also runs with an old cache.
func TestDelays(t *testing.T) {
	t.Parallel()
	for steps, want := range map[int]string{1: "11 cases, 1 always", 2: "12 cases, 1 always", 3: "12 cases, 0 always"} {
		lagging, always := 0, 0
		draw := faults.Draw{System: &description.Prepared{}}
		for _, c := range draw.Cases(baselineOf([]description.Step{"A", "B", "A"}[:steps])) {
			if v := c.Spec.Variant; v.Lag != nil || v.Slow || v.Overlap || v.Behind || v.Reversed {
				lagging++
			}
			if c.Always {
				always++
			}
			if c.Spec.At != steps-1 {
				t.Errorf("%s is about step %d", c.Name, c.Spec.At)
			}
		}
		if got := fmt.Sprintf("%d cases, %d always", lagging, always); got != want {
			t.Errorf("%d steps: %s, want %s", steps, got, want)
		}
	}
}

// TestBeside checks that other reconciliations run before each write of a reconciliation, in short baselines with concurrency.
func TestBeside(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		overlaps bool
		steps    int
		want     []string
	}{
		{true, 1, []string{"create configmaps default/a#0", "update configmaps default/b#0"}},
		{true, 2, []string{"create configmaps default/a#0", "update configmaps default/b#0"}},
		{true, 3, nil},
		{false, 1, nil},
	} {
		s := baselineOf([]description.Step{"A", "B", "A"}[:c.steps], calls("create a", "get c", "update b")...)
		s.Overlaps = c.overlaps
		draw := faults.Draw{System: &description.Prepared{}}
		var got []string
		for _, one := range draw.Cases(s) {
			if inject := one.Spec.Variant.Inject; len(inject) == 1 && inject[0].Fault == transport.FaultInterleave {
				got = append(got, inject[0].Call)
			}
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%d steps, overlaps: %t (-want +got):\n%s", c.steps, c.overlaps, diff)
		}
	}
}
