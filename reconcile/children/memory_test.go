package children_test

import (
	"math/rand/v2"
	"testing"
	"testing/fstest"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/reconcilekit/reconcilekit/manifests"
	"github.com/reconcilekit/reconcilekit/reconcile"
	"github.com/reconcilekit/reconcilekit/reconcile/apply"
	"github.com/reconcilekit/reconcilekit/reconcile/children"
)

// app is the input of the plans in these tests. Only a method for templates reads one of its fields.
type app struct {
	Name   string
	Labels map[string]string
	Ports  []int
	Note   *string
	Any    any
	hidden int
	call   func()
}

func (a app) Hidden() int { return a.hidden }

func apps(t testing.TB, budget int) *children.Set[app] {
	t.Helper()
	scheme := runtime.NewScheme()
	if err := corev1.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	text := "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: {{quote .Name}}, labels: {{json .Labels}}}\n" +
		"data: {ports: {{quote (print .Ports)}}, note: {{if .Note}}{{quote .Note}}{{else}}none{{end}}, any: {{quote (printf \"%T %v\" .Any .Any)}}, " +
		"hidden: {{quote (print .Hidden)}}}\n"
	parsed, err := manifests.Parse(fstest.MapFS{"app.yaml": {Data: []byte(text)}}, scheme, "*.yaml")
	if err != nil {
		t.Fatal(err)
	}
	return &children.Set[app]{Manifests: parsed, MaxRemembered: budget, Children: []children.Child[app]{
		{Template: "app.yaml", Dynamic: func(a app) []apply.ChildOption { return []apply.ChildOption{apply.Seed("data." + a.Name)} }},
	}}
}

func plan(t testing.TB, set *children.Set[app], of app) reconcile.PlanResult {
	t.Helper()
	made, err := set.Plan(of)
	if err != nil {
		t.Fatal(err)
	}
	return made
}

func TestPlanIsReused(t *testing.T) {
	t.Parallel()
	facts := func(name string) app { return app{Name: name, Labels: map[string]string{"a": "b"}} }
	set := apps(t, 0)
	first := plan(t, set, facts("a"))
	first.Delete(&corev1.ConfigMap{})
	first.Children[0].Mode = apply.Once
	again := plan(t, set, facts("a"))
	if again.Children[0].Object != first.Children[0].Object {
		t.Error("the plan for the same facts was rendered again")
	}
	if again.Children[0].Mode != apply.Own || len(again.Deletes) != 0 {
		t.Errorf("an object that a caller added to its plan is in the next plan: %+v", again)
	}
	if other := plan(t, set, facts("b")); other.Children[0].Object.GetName() != "b" {
		t.Errorf("the plan of other facts names %s", other.Children[0].Object.GetName())
	}
	again.Children[0].Object.SetName("changed")
	if made := plan(t, set, facts("a")); made.Children[0].Object.GetName() != "a" {
		t.Errorf("a caller's change is in the next plan: %s", made.Children[0].Object.GetName())
	}
}

// TestRememberedIsBounded checks that the plans asked for last stay, within the budget, and that what cannot be compared is
// rendered every time.
func TestRememberedIsBounded(t *testing.T) {
	t.Parallel()
	same := func(set *children.Set[app], of app) bool {
		return plan(t, set, of).Children[0].Object == plan(t, set, of).Children[0].Object
	}
	if same(apps(t, -1), app{Name: "a"}) || same(apps(t, 100), app{Name: "a"}) {
		t.Error("a plan larger than the budget is stored")
	}
	if same(apps(t, 0), app{Name: "a", call: func() {}}) {
		t.Error("a plan from a function is stored")
	}
	set := apps(t, 6_000)
	first := plan(t, set, app{Name: "first"}).Children[0].Object
	last := plan(t, set, app{Name: "last"}).Children[0].Object
	for _, name := range []string{"b", "c", "d", "e", "f", "g", "h", "i", "j", "k", "l", "m", "n", "o", "p", "q", "r", "s", "t", "u"} {
		plan(t, set, app{Name: name})
		if plan(t, set, app{Name: "last"}).Children[0].Object != last {
			t.Fatalf("the last used plan was removed for %s", name)
		}
	}
	if plan(t, set, app{Name: "first"}).Children[0].Object == first {
		t.Error("no plan was removed")
	}
}

// TestSearch compares remembered children with rendered ones, for inputs that differ in one field at a time and are repeated.
func TestSearch(t *testing.T) {
	t.Parallel()
	seed := uint64(time.Now().UnixNano())
	random := rand.New(rand.NewPCG(seed, 0))
	set, fresh := apps(t, 0), apps(t, -1)
	text := func() string { return []string{"", "a", "b", "1", "true"}[random.IntN(5)] }
	facts := app{Name: "a"}
	for range 3000 {
		switch random.IntN(7) {
		case 0:
			facts.Name = "n" + text()
		case 1:
			facts.Labels = map[string]string{"x": text()}
		case 2:
			facts.Ports = [][]int{nil, {}, {1}, {1, 2}, {12}}[random.IntN(5)]
		case 3:
			note := text()
			facts.Note = []*string{nil, &note}[random.IntN(2)]
		case 4:
			facts.Any = []any{nil, 1, int64(1), "1", true, text(), []any{1}, []string{"1"}}[random.IntN(8)]
		case 5:
			facts.hidden = random.IntN(3)
		default:
			if facts.Labels != nil {
				facts.Labels["x"] = text() // the same map with another content
			}
		}
		if diff := cmp.Diff(plan(t, fresh, facts), plan(t, set, facts)); diff != "" {
			t.Fatalf("seed %d: %+v: the stored plan differs (-rendered +stored):\n%s", seed, facts, diff)
		}
	}
}
