package engine

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/reconcilekit/reconcilekit/health"
	"github.com/reconcilekit/reconcilekit/reconcile/apply"
	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/applyset"
	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/intent"
)

// TestSteps checks the order in which children are written: after the children that they are ordered after, and otherwise by kind.
func TestSteps(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		ranks map[string]int
		after map[string][]string
		want  map[string]step
	}{
		"without an order":               {map[string]int{"a": 2, "b": 1}, nil, map[string]step{"a": {2, 0}, "b": {1, 0}}},
		"behind a kind that comes first": {map[string]int{"a": 1, "b": 2}, map[string][]string{"b": {"a"}}, map[string]step{"a": {1, 0}, "b": {2, 0}}},
		"behind a child of its kind":     {map[string]int{"a": 1, "b": 1}, map[string][]string{"b": {"a"}}, map[string]step{"a": {1, 0}, "b": {1, 1}}},
		"behind a kind that comes last":  {map[string]int{"a": 3, "b": 1}, map[string][]string{"b": {"a"}}, map[string]step{"a": {3, 0}, "b": {3, 1}}},
		"behind two": {
			map[string]int{"a": 1, "b": 3, "c": 1},
			map[string][]string{"c": {"a", "b"}},
			map[string]step{"a": {1, 0}, "b": {3, 0}, "c": {3, 1}},
		},
		"in a chain": {
			map[string]int{"a": 3, "b": 1, "c": 2, "d": 4},
			map[string][]string{"b": {"a"}, "c": {"b"}, "d": {"c"}},
			map[string]step{"a": {3, 0}, "b": {3, 1}, "c": {3, 2}, "d": {4, 0}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o, children := &order{links: map[*child]*link{}}, map[string]*child{}
			for name, rank := range tc.ranks {
				children[name] = &child{}
				children[name].kind = &intent.Kind{Rank: rank}
				o.links[children[name]] = &link{}
			}
			for name, after := range tc.after {
				for _, other := range after {
					l := o.links[children[name]]
					l.after = append(l.after, target{child: children[other]})
				}
			}
			got := map[string]step{}
			for name, c := range children {
				o.place(c, nil)
				got[name] = o.links[c].step
			}
			if diff := cmp.Diff(tc.want, got, cmp.AllowUnexported(step{})); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// TestPruneOrder checks which member must be deleted before another object.
func TestPruneOrder(t *testing.T) {
	t.Parallel()
	id := func(name string) applyset.ObjectID {
		return applyset.ObjectID{GroupKind: schema.GroupKind{Kind: "ConfigMap"}, Key: types.NamespacedName{Namespace: "default", Name: name}}
	}
	for name, tc := range map[string]struct {
		leaving map[string][]string // the objects that each member is ordered after
		want    map[string]string   // the member that is deleted first, or empty
	}{
		"without an order":        {map[string][]string{"a": nil, "b": nil}, map[string]string{"a": "", "b": ""}},
		"the last goes first":     {map[string][]string{"a": nil, "b": {"a"}}, map[string]string{"a": "b", "b": ""}},
		"behind what stays":       {map[string][]string{"b": {"a"}}, map[string]string{"b": ""}},
		"before a part":           {map[string][]string{"b": {"part"}}, map[string]string{"part": "b"}},
		"in a chain":              {map[string][]string{"a": nil, "b": {"a"}, "c": {"b"}}, map[string]string{"a": "b", "b": "c", "c": ""}},
		"behind itself":           {map[string][]string{"a": {"a"}}, map[string]string{"a": ""}},
		"behind each other":       {map[string][]string{"a": {"b"}, "b": {"a"}}, map[string]string{"a": "", "b": ""}},
		"in a cycle of three":     {map[string][]string{"a": {"c"}, "b": {"a"}, "c": {"b"}}, map[string]string{"a": "", "b": "", "c": ""}},
		"behind one of a cycle":   {map[string][]string{"a": {"b"}, "b": {"a"}, "c": {"b"}}, map[string]string{"a": "", "b": "c", "c": ""}},
		"behind what left before": {map[string][]string{"a": nil, "c": {"b"}}, map[string]string{"a": "", "c": ""}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newPruneDecider(&pruneObservation{facts: &facts{}})
			for name, after := range tc.leaving {
				m := memberObject{id: id(name)}
				for _, other := range after {
					m.after = append(m.after, id(other))
				}
				p.leaving = append(p.leaving, m)
			}
			got := map[string]string{}
			for name := range tc.want {
				got[name] = ""
				if first := p.comesFirst(id(name)); first != nil {
					got[name] = first.id.Key.Name
				}
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// TestAfterTexts checks the messages about a waiting child and about an invalid order.
func TestAfterTexts(t *testing.T) {
	t.Parallel()
	named := func(name string) *corev1.ConfigMap {
		return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name}}
	}
	gadget := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "example.com/v1", "kind": "Gadget", "metadata": map[string]any{"name": "g", "namespace": "default"},
	}}
	never := apply.WaitUntil(false, "it rains")
	for name, tc := range map[string]struct {
		plan  func(*apply.Plan)
		given func(*stage)
		want  string // message of the child "b"
	}{
		"waits for a child": {
			func(p *apply.Plan) { p.Apply(named("b"), apply.After(named("a"))); p.Apply(named("a"), never) }, nil,
			"* ConfigMap default/b: waits until ConfigMap default/a is applied\n",
		},
		"waits for the first of several": {
			func(p *apply.Plan) {
				p.Apply(named("b"), apply.After(named("c"), named("a")), apply.After(named("d")))
				p.Apply(named("a"), never)
				p.Apply(named("c"))
				p.Apply(named("d"), never)
			}, nil,
			"* ConfigMap default/b: waits until ConfigMap default/a is applied\n",
		},
		"waits for a condition of its own": {
			func(p *apply.Plan) { p.Apply(named("b"), apply.After(named("a")), never); p.Apply(named("a"), never) }, nil,
			"* ConfigMap default/b: waits until it rains\n",
		},
		"waits for the end of a deletion": {
			func(p *apply.Plan) {
				p.Apply(named("b"), apply.After(named("a")))
				p.Delete(named("a"), apply.Uncontrolled())
			},
			func(s *stage) { o := named("a"); o.Namespace = "default"; s.create(o) },
			"* ConfigMap default/b: waits until ConfigMap default/a is gone\n",
		},
		"waits for a child of a kind that is not served": {
			func(p *apply.Plan) { p.Apply(named("b"), apply.After(gadget)); p.Apply(gadget) }, nil,
			"* ConfigMap default/b: waits until Gadget default/g is applied\n",
		},
		"an optional kind is not installed": {
			func(p *apply.Plan) {
				p.Apply(named("b"), apply.After(gadget))
				p.Unknown = map[schema.GroupKind]error{{Group: "example.com", Kind: "Gadget"}: fmt.Errorf("not served")} //nolint:err113 // any error
			}, nil,
			"+ ConfigMap default/b: create (Missing)\n",
		},
		"not in the plan": {
			func(p *apply.Plan) { p.Apply(named("b"), apply.After(named("a"))) }, nil,
			"! ConfigMap default/b: child: it comes after ConfigMap a, which the plan neither applies nor deletes: add it to the plan, " +
				"or leave it out of After\n",
		},
		"a nil object": {
			func(p *apply.Plan) { p.Apply(named("b"), apply.After((*corev1.ConfigMap)(nil))) }, nil,
			"! ConfigMap default/b: child: After has a *v1.ConfigMap as object 1, want an object of a known kind\n",
		},
		"a cycle": {
			func(p *apply.Plan) {
				p.Apply(named("b"), apply.After(named("a")))
				p.Apply(named("a"), apply.After(named("c")))
				p.Apply(named("c"), apply.After(named("b")))
			}, nil,
			"! ConfigMap default/b: child: After orders these objects in a cycle: ConfigMap default/b after ConfigMap default/a after " +
				"ConfigMap default/c after ConfigMap default/b; remove one After\n",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newStage(t)
			if tc.given != nil {
				tc.given(s)
			}
			var plan apply.Plan
			tc.plan(&plan)
			p := s.begin(plan)
			decideAll(p, &pruning{pass: p})
			got := resultAbout(p, "b")
			if diff := cmp.Diff(tc.want, got.Decision.String()); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if got.Err != nil && health.Categorize(got.Err).Category != health.ProgramError {
				t.Errorf("category of %v: want ProgramError, got %v", got.Err, health.Categorize(got.Err).Category)
			}
		})
	}
}

// TestAfterMetadata checks that the owner's metadata, which is written first, cannot be ordered after a child.
func TestAfterMetadata(t *testing.T) {
	t.Parallel()
	plan := planOf(settings())
	plan.Metadata(metav1.ObjectMeta{Labels: map[string]string{"a": "b"}}, apply.After(settings()))
	s := newStage(t)
	p := s.begin(plan)
	decideAll(p, &pruning{pass: p})
	if err := p.ownerChild.result.Err; err != errOrderedMetadata { //nolint:errorlint // the very same
		t.Errorf("want %v, got %v", errOrderedMetadata, err)
	}
}
