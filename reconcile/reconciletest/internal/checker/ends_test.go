package checker_test

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/internal/baseline"
	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/internal/checker"
	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/internal/cluster"
	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/internal/description"
	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/internal/run"
)

func everything() []rbacv1.PolicyRule {
	return []rbacv1.PolicyRule{{APIGroups: []string{"*"}, Resources: []string{"*"}, Verbs: []string{"*"}}}
}

func stateOf(t *testing.T, text string) cluster.State {
	t.Helper()
	var out cluster.State
	if err := yaml.Unmarshal([]byte(text), &out); err != nil {
		t.Fatal(err)
	}
	return out
}

func TestMatches(t *testing.T) {
	t.Parallel()
	const state = "[state] the end differs from the run without faults:\n"
	for name, c := range map[string]struct {
		want, got string
		same      bool
		found     string
	}{
		"the same":                      {`{A: {x: 1}}`, `{A: {x: 1}}`, true, ""},
		"another value":                 {`{A: {x: 1}}`, `{A: {x: 2}}`, false, state + "A: x: want 1, got 2"},
		"a missing object":              {`{A: {x: 1}}`, `{}`, false, state + "A: want one, got none"},
		"two extra objects":             {`{}`, `{B: {}, A: {}}`, false, "[orphan] the run without faults ends without A, B"},
		"an object that may remain":     {`{}`, `{Kept: {x: 1}}`, true, ""},
		"an object that may be missing": {`{Kept: {x: 1}}`, `{}`, true, ""},
		"an object that may be missing, but must not differ": {`{Kept: {x: 1}}`, `{Kept: {x: 2}}`, false, state + "Kept: x: want 1, got 2"},
		"a Job that its TTL deletes":                         {`{J: {kind: Job, spec: {ttlSecondsAfterFinished: 1}}}`, `{}`, true, ""},
		"a Job without a TTL":                                {`{J: {kind: Job, spec: {}}}`, `{}`, false, state + "J: want one, got none"},
		"a random value":                                     {`{S: {data: {key: random}}}`, `{S: {data: {key: abc}}}`, true, ""},
		"a random value that is missing":                     {`{S: {data: {key: random}}}`, `{S: {data: {}}}`, false, state + "S: data.key: want"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			j := checker.New(description.Prepared{System: description.System{Outlives: []string{"Kept"}}})
			j.Random["S"] = map[string]bool{"data.key": true}
			if same := j.Matches("A", stateOf(t, c.want), stateOf(t, c.got)); same != c.same {
				t.Errorf("matches: %t, want %t", same, c.same)
			}
			wants(t, j, c.found)
		})
	}
}

// TestCompareAs checks that the end of a run is compared with its own baseline, or with the baseline of its last step.
func TestCompareAs(t *testing.T) {
	t.Parallel()
	j := checker.New(description.Prepared{})
	j.Expect(description.StepB, stateOf(t, `{A: {x: 2}}`))
	base := &baseline.Baseline{Steps: []description.Step{description.StepA}, State: stateOf(t, `{A: {x: 1}}`)}
	for last, x := range map[description.Step]string{description.StepA: "1", description.StepB: "2"} {
		if !j.CompareAs("A", base, last, stateOf(t, `{A: {x: `+x+`}}`)) {
			t.Errorf("%s: x is not %s", last, x)
		}
	}
	wants(t, j, "")
	if j.CompareAs("A", base, description.StepDelete, stateOf(t, `{A: {x: 1}}`)) || len(j.Findings()) != 0 {
		t.Errorf("a run without a reference was compared: %v", j.Findings())
	}
	j.System.Horizon = 1
	if !j.CompareAs("A", base, description.StepB, stateOf(t, `{A: {x: 9}}`)) {
		t.Error("a scheduled run was compared with one that was changed at another time")
	}
}

func TestCheckQuiet(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		operator operator
		fresh    bool
		want     string
	}{
		"nothing":                       {func(pass) error { return nil }, true, ""},
		"created once":                  {func(p pass) error { return once(p, configMap("a", "red")) }, true, ""},
		"an update in each pass":        {func(p pass) error { return p.Update(p, p.owner) }, true, "[quiet] writes although nothing has changed: update test.reconcilekit.dev/widgets default/web"},
		"a refused create":              {func(p pass) error { return p.create(configMap("a", "red")) }, false, "[quiet] writes although nothing has changed: create configmaps default/a"},
		"an event in each pass":         {func(p pass) error { p.events.Event(p.owner, "Normal", "Made", "all created"); return nil }, false, "[quiet] sends an event again although nothing has changed: Widget.test.reconcilekit.dev default/web Made: all created"},
		"the same apply":                {func(p pass) error { return applied(p, "red") }, true, "to check: every pass sends an apply that changes nothing: apply configmaps default/a"},
		"the same apply, with a fault":  {func(p pass) error { return applied(p, "red") }, false, "[quiet] writes although nothing has changed: apply configmaps default/a"},
		"created after each start":      {perLife, true, "[quiet] "},
		"created after the first start": {perLife, false, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			j, r := execute(t, c.operator, nil)
			j.CheckQuiet(t.Context(), "no fault, A", r, c.fresh)
			wants(t, j, c.want)
		})
	}
}

// once creates a child that is not in the cache.
func once(p pass, obj client.Object) error {
	if p.Get(p, client.ObjectKey{Namespace: "default", Name: obj.GetName()}, &corev1.ConfigMap{}) == nil {
		return nil
	}
	return p.create(obj)
}

func applied(p pass, color string) error {
	obj := configMap("a", color)
	obj.Namespace, obj.TypeMeta = "default", metav1.TypeMeta{APIVersion: "v1", Kind: "ConfigMap"}
	return p.Patch(p, obj, client.Apply, client.FieldOwner("test"), client.ForceOwnership) //nolint:staticcheck // a typed object
}

// perLife writes in the first reconciliation of each instance.
func perLife(p pass) error {
	if p.number > 1 {
		return nil
	}
	p.owner.Labels = map[string]string{"life": strings.Repeat("x", len(p.owner.Labels["life"])+1)}
	return p.Update(p, p.owner)
}

// TestCheckOrphans checks that an object that was created after the owner and outlives it is an orphan.
func TestCheckOrphans(t *testing.T) {
	t.Parallel()
	j, _ := execute(t, func(pass) error { return nil }, func(s *description.System) {
		s.Given, s.Outlives = []client.Object{configMap("given", "red")}, []string{"Secret default/*"}
	})
	j.CheckOrphans(t.Context(), "no fault, A-delete", stateOf(t, `{ConfigMap default/given: {}, Secret default/kept: {}}`))
	wants(t, j, "")
	j.CheckOrphans(t.Context(), "no fault, A-delete", stateOf(t, `{ConfigMap default/given: {}, ConfigMap default/left: {}}`))
	wants(t, j, `[orphan] ConfigMap default/left outlives its owner; if it is meant to, add "ConfigMap default/left" to System.Outlives`)
}

func TestCheckStatus(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		operator operator
		want     string
	}{
		"children, then ready": {func(p pass) error {
			if err := once(p, configMap("a", "red")); err != nil {
				return err
			}
			return p.ready(p.owner.Generation, "")
		}, ""},
		"ready, then a child": {func(p pass) error {
			if err := p.ready(p.owner.Generation, ""); err != nil {
				return err
			}
			return once(p, configMap("a", "red"))
		}, "[status] Widget.test.reconcilekit.dev default/web reports ready for its spec before create configmaps default/a"},
		"ready for an older spec, then a child": {func(p pass) error {
			if err := p.ready(p.owner.Generation+1, ""); err != nil {
				return err
			}
			return once(p, configMap("a", "red"))
		}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			j, r := execute(t, c.operator, nil)
			j.CheckStatus("no fault, A", r)
			wants(t, j, c.want)
		})
	}
}

// TestCheckDeletes checks that a delete that the run without faults does not send is a finding.
func TestCheckDeletes(t *testing.T) {
	t.Parallel()
	j, r := execute(t, func(p pass) error {
		if p.number > 1 {
			return nil
		}
		if err := p.create(configMap("a", "red")); err != nil {
			return err
		}
		return p.Delete(p, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "a"}})
	}, nil)
	first := j.Baselines[0]
	j.CheckDeletes(first.Varied("events doubled", run.Variation{}), r)
	wants(t, j, "")
	careful := &baseline.Baseline{Steps: first.Steps}
	other := careful.Varied("events doubled", run.Variation{})
	other.Final = description.StepA
	j.CheckDeletes(other, r)
	wants(t, j, "[deletes] deletes ConfigMap default/a, which the run without faults does not delete")
}

// TestCheckSecrets checks that a random value of a Secret is generated only once.
func TestCheckSecrets(t *testing.T) {
	t.Parallel()
	j, r := execute(t, func(p pass) error {
		if err := p.create(secret("db", "password", "drawn-first")); err != nil || p.number > 1 {
			return err
		}
		again := secret("db", "password", "drawn-again")
		again.Namespace = "default"
		return p.Update(p, again)
	}, nil)
	j.CheckSecrets("no fault, A", r)
	wants(t, j, "")
	j.Random["Secret default/db"] = map[string]bool{"data.password": true}
	j.CheckSecrets("no fault, A", r)
	wants(t, j, "[damage] Secret default/db: data.password is random, and update secrets default/db#1 regenerates it")
}
