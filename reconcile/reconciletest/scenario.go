package reconciletest

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/internal/objects"
)

// Scenario is a test by example: the system runs until it is at rest, and the world is then as expected. The same
// scenario runs in the fake world and, with System.Environment, on a real API server.
type Scenario struct {
	// System is what runs.
	System System
	// Expect are objects that must be there, each with at least what is set here: maps may have more keys, lists must
	// have the same elements in the same order, except that of conditions each is looked up by its type. What Go writes
	// for fields that are not set (nulls, empty structs) is not looked at. An object without a namespace is expected in
	// that of the test.
	Expect []client.Object
	// ExpectYAML is added to Expect.
	ExpectYAML string
	// Gone are objects that must not be there.
	Gone []client.Object
	// Events, when it is not nil, are the events that must have been announced, in this order. Here and in Writes the
	// namespace of the test is called "default", also on a real API server, where it has another name.
	Events []Event
	// Writes, when it is not nil, are all writes that may have been sent, in any order, as Request.String prints them, for
	// example "apply configmaps default/web".
	Writes []string
}

// Run runs the scenario.
func (s Scenario) Run(t testing.TB) {
	t.Helper()
	wrong, err := s.findings(t)
	if err != nil {
		t.Fatal(err)
	}
	for _, one := range wrong {
		t.Error(one)
	}
}

// findings runs the scenario and returns what is not as expected. The error is why the run came to no end; what is wrong is
// then of the moment. A wrong description, and an operator that does not start, end the test.
func (s Scenario) findings(t testing.TB) (wrong []string, err error) {
	t.Helper()
	system, err := s.System.withDefaults()
	if err != nil {
		t.Fatal(err)
	}
	more, err := parseYAML(s.ExpectYAML)
	if err != nil {
		t.Fatalf("scenario: ExpectYAML: %v", err)
	}
	r := play(t.Context(), system, plot{steps: []step{stepA}}, namespaceOf(t, system))
	if r.last == nil {
		t.Fatal(r.err)
	}
	defer r.last.end()
	for _, want := range append(slices.Clone(s.Expect), more...) {
		if diff := r.world.differs(want); diff != "" {
			wrong = append(wrong, diff)
		}
	}
	for _, gone := range s.Gone {
		if name, found := r.world.finds(gone); found {
			wrong = append(wrong, fmt.Sprintf("want no %s, but it is there", name))
		}
	}
	return append(wrong, s.told(r)...), r.err
}

// told compares what was announced and sent.
func (s Scenario) told(r *run) (wrong []string) {
	if s.Events != nil {
		got := slices.Clone(r.events.events)
		for i := range got {
			got[i].Object = r.world.plain(got[i].Object)
		}
		if diff := cmp.Diff(s.Events, got); diff != "" {
			wrong = append(wrong, "events (-want +got):\n"+diff)
		}
	}
	if s.Writes != nil {
		var got []string
		for _, request := range sentBy(r.calls).Writes() {
			got = append(got, r.world.plain(request.String()))
		}
		if diff := cmp.Diff(sorted(s.Writes), sorted(got)); diff != "" {
			wrong = append(wrong, "writes (-want +got):\n"+diff)
		}
	}
	return wrong
}

// plain prints the namespace of the test as "default", on a real API server too.
func (w *world) plain(name string) string {
	return strings.ReplaceAll(name, " "+w.namespace+"/", " "+testNamespace+"/")
}

func sorted(lines []string) []string { return slices.Sorted(slices.Values(lines)) }

// finds looks an object up by kind and name.
func (w *world) finds(obj client.Object) (name string, found bool) {
	wanted := obj.DeepCopyObject().(client.Object) //nolint:forcetypeassert // a deep copy has the type of its original
	gvk, err := w.place(wanted)
	if err != nil {
		return err.Error(), true
	}
	items, err := w.list(gvk)
	key := client.ObjectKeyFromObject(wanted)
	return objects.Name(gvk, key), err != nil || items[key] != nil
}

// differs reports how an object is not what is wanted of it, "" when it is.
func (w *world) differs(obj client.Object) string {
	wanted := obj.DeepCopyObject().(client.Object) //nolint:forcetypeassert // as above
	gvk, err := w.place(wanted)
	if err != nil {
		return err.Error()
	}
	want, err := objects.ToUnstructured(wanted, gvk)
	if err != nil {
		return err.Error()
	}
	all, err := w.all()
	if err != nil {
		return err.Error()
	}
	key := client.ObjectKeyFromObject(wanted)
	name := objects.Name(gvk, key)
	got := all[gvk][key]
	if got == nil {
		return fmt.Sprintf("want %s, but it is not there; of its kind there are: %s", name, keysOf(all[gvk]))
	}
	expected := prune(want.Object)
	content := normalise(got, identities(all))
	if diff := cmp.Diff(expected, project(content, expected)); diff != "" {
		return fmt.Sprintf("%s (-want +got):\n%s", name, diff)
	}
	return ""
}

func keysOf(items snapshot) string {
	if len(items) == 0 {
		return "none"
	}
	names := make([]string, 0, len(items))
	for _, key := range objects.SortedKeys(items) {
		names = append(names, types.NamespacedName.String(key))
	}
	return strings.Join(names, ", ")
}

// prune leaves out empty maps, which Go writes for structs that are not set.
func prune(value any) any {
	switch v := value.(type) {
	case map[string]any:
		out := map[string]any{}
		for key, inner := range v {
			if m, ok := inner.(map[string]any); ok && len(m) == 0 {
				continue
			}
			if kept := prune(inner); kept != nil {
				if m, ok := kept.(map[string]any); ok && len(m) == 0 {
					continue
				}
				out[key] = kept
			}
		}
		return out
	case []any:
		out := make([]any, len(v))
		for n := range v {
			out[n] = prune(v[n])
		}
		return out
	}
	return value
}

// project keeps of a value what the expected one speaks of.
func project(got, want any) any {
	switch w := want.(type) {
	case map[string]any:
		g, ok := got.(map[string]any)
		if !ok {
			return got
		}
		out := map[string]any{}
		for key, inner := range w {
			if value, there := g[key]; there {
				out[key] = project(value, inner)
			}
		}
		return out
	case []any:
		g, ok := got.([]any)
		if !ok {
			return got
		}
		if byType(w) {
			return conditionsLike(g, w)
		}
		out := make([]any, len(g))
		for n := range g {
			out[n] = g[n]
			if n < len(w) {
				out[n] = project(g[n], w[n])
			}
		}
		return out
	}
	return got
}

func byType(list []any) bool {
	for _, element := range list {
		m, ok := element.(map[string]any)
		if !ok || m["type"] == nil || m["status"] == nil {
			return false
		}
	}
	return len(list) > 0
}

func conditionsLike(got, want []any) []any {
	var out []any
	for _, w := range want {
		of := w.(map[string]any)["type"] //nolint:forcetypeassert // see byType
		for _, g := range got {
			if m, ok := g.(map[string]any); ok && m["type"] == of {
				out = append(out, project(g, w))
			}
		}
	}
	return out
}
