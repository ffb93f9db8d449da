package drift_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// TestChild checks that changes of a child by other clients are repaired immediately.
func TestChild(t *testing.T) {
	t.Parallel()
	const child = "Secret default/of-shop"
	for name, c := range map[string]struct {
		operator operator
		act      string
		want     []string
	}{
		"edited, correct operator":  {operator{owns: true}, "edits of " + child, nil},
		"deleted, correct operator": {operator{owns: true}, "delete of " + child, nil},
		"edited, not watched": {operator{}, "edits of " + child, []string{
			"[watch] an edit of Secret default/of-shop triggers no pass: data.color is restored only by a pass for another reason",
		}},
		"deleted, not watched": {operator{}, "delete of " + child, []string{
			"[watch] a delete of Secret default/of-shop triggers no pass: only a pass for another reason sends create secrets default/of-shop",
		}},
		"edited, created once":  {operator{owns: true, recreate: true}, "edits of " + child, nil},
		"annotated":             {operator{owns: true}, "annotation of another client on " + child, nil},
		"of another controller": {operator{owns: true}, "another controller's " + child, nil},
		"of another controller, taken": {operator{owns: true, force: true}, "another controller's " + child, []string{
			"[foreign] Secret default/of-shop belongs to another controller, and is changed or deleted nevertheless",
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(c.want, found(disturb(t, c.operator, nil, c.act))); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// TestInput checks that inputs are edited only with values that the schema of their kind allows.
func TestInput(t *testing.T) {
	t.Parallel()
	const act = "change of Valve.example.com default/main"
	notWatched := []string{"[watch] an edit of Valve.example.com default/main triggers no pass: " +
		"only a pass for another reason sends update secrets default/of-shop"}
	for name, c := range map[string]struct {
		field, value string
		watched      bool
		want         []string
	}{
		"one of the values of an enum":       {"size", "large", false, notWatched},
		"the other object":                   {"size", "small", false, notWatched},
		"an enum, watched":                   {"size", "large", true, nil},
		"a pattern without a dash":           {"label", "main", false, notWatched},
		"a pattern, watched":                 {"label", "main", true, nil},
		"an immutable field, without a note": {"serial", "a1", true, nil},
		"a field without another valid value, with a note": {"unit", "bar", true, []string{
			`not tried: an edit of spec.unit of Valve.example.com default/main, as the API server refuses the values that were tried: ` +
				`Valve.example.com "main" is invalid: spec.unit: Invalid value: "bar-edited": spec.unit in body should match '^bar$'`,
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := operator{owns: true, content: sizeOf(c.field)}
			if c.watched {
				o.mapped = valve(c.field, "")
			}
			got := found(disturb(t, o, []client.Object{valve(c.field, c.value)}, act))
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}
