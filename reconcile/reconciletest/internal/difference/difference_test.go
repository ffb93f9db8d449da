package difference_test

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"

	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/internal/cluster"
	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/internal/difference"
)

func stateOf(t *testing.T, text string) cluster.State {
	t.Helper()
	var out cluster.State
	if err := yaml.Unmarshal([]byte(text), &out); err != nil {
		t.Fatal(err)
	}
	return out
}

func TestBetween(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		want, got string
		diff      []string
	}{
		"the same":                     {`{A: {x: 1}}`, `{A: {x: 1}}`, nil},
		"a missing object":             {`{A: {x: 1}, B: {}}`, `{A: {x: 1}}`, []string{"B: want one, got none"}},
		"an extra object":              {`{}`, `{A: {x: 1}}`, []string{"A: want none, got one"}},
		"a value":                      {`{A: {spec: {x: 1}}}`, `{A: {spec: {x: 2}}}`, []string{"A: spec.x: want 1, got 2"}},
		"a missing value":              {`{A: {x: 1, u: a}}`, `{A: {x: 1}}`, []string{`A: u: want "a", got none`}},
		"an extra value":               {`{A: {x: 1}}`, `{A: {x: 1, u: {z: 1}}}`, []string{`A: u: want none, got {"z":1}`}},
		"in a list":                    {`{A: {x: [{u: 1}, {u: 2}]}}`, `{A: {x: [{u: 1}, {u: 3}]}}`, []string{"A: x[1].u: want 2, got 3"}},
		"lists of different lengths":   {`{A: {x: [1, 2]}}`, `{A: {x: [1]}}`, []string{"A: x: want [1,2], got [1]"}},
		"a map and a text":             {`{A: {x: {u: 1}}}`, `{A: {x: a}}`, []string{`A: x: want {"u":1}, got "a"`}},
		"sorted, by object, then path": {`{B: {x: 1}, A: {z: 1, u: 1}}`, `{B: {x: 2}, A: {z: 2, u: 2}}`, []string{"A: u: want 1, got 2", "A: z: want 1, got 2", "B: x: want 1, got 2"}},
		"an empty map equals none":     {`{A: {x: {}}}`, `{A: {x: {}}}`, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var got []string
			for _, d := range difference.Between(stateOf(t, c.want), stateOf(t, c.got)) {
				got = append(got, d.String())
			}
			if diff := cmp.Diff(c.diff, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestPrint(t *testing.T) {
	t.Parallel()
	want, got := cluster.State{"A": {}}, cluster.State{"A": {}}
	for n := range 10 {
		want["A"][fmt.Sprintf("f%d", n)] = "a"
		got["A"][fmt.Sprintf("f%d", n)] = "b"
	}
	lines := strings.Split(difference.Print(difference.Between(want, got)), "\n")
	if len(lines) != 9 || lines[7] != `A: f7: want "a", got "b"` || lines[8] != "and 2 more" {
		t.Errorf("printed:\n%s", strings.Join(lines, "\n"))
	}
	if text := difference.Print(nil); text != "" {
		t.Errorf("no difference is printed as %q", text)
	}
}

// TestPrintedValue checks that a long value is truncated, and that a value that is not JSON is printed in Go syntax.
func TestPrintedValue(t *testing.T) {
	t.Parallel()
	long := difference.Between(cluster.State{"A": {"x": strings.Repeat("y", 300)}}, cluster.State{"A": {"x": "z"}})
	if want := `A: x: want "` + strings.Repeat("y", 199) + `..., got "z"`; difference.Print(long) != want {
		t.Errorf("got  %s\nwant %s", difference.Print(long), want)
	}
	odd := difference.Between(cluster.State{"A": {"x": math.Inf(1)}}, cluster.State{"A": {"x": 1.5}})
	if want := "A: x: want +Inf, got 1.5"; difference.Print(odd) != want {
		t.Errorf("got  %s\nwant %s", difference.Print(odd), want)
	}
}

// TestDrawn checks that strings that differ between two runs of a baseline are masked, except in the status.
func TestDrawn(t *testing.T) {
	t.Parallel()
	drawn := difference.Random{}
	drawn.Add(
		stateOf(t, `{Secret: {data: {key: one, user: me}}, Widget: {spec: {replicas: 1, list: [a, b], text: x, more: {}}, status: {key: one}}, Gone: {}}`),
		stateOf(t, `{Secret: {data: {key: two, user: me}}, Widget: {spec: {replicas: 2, list: [a, c], text: 1, more: y}, status: {key: two}}}`),
	)
	drawn.Add(stateOf(t, `{Secret: {data: {other: one}}}`), stateOf(t, `{Secret: {data: {other: two}}}`))
	want := difference.Random{"Secret": {"data.key": true, "data.other": true}, "Widget": {"spec.list[1]": true}}
	if diff := cmp.Diff(want, drawn); diff != "" {
		t.Errorf("drawn (-want +got):\n%s", diff)
	}

	got := stateOf(t, `{Secret: {data: {key: three, other: "", user: you}}, Widget: {spec: {list: [d, e, f]}}, More: {data: {key: x}}}`)
	drawn.Mask(got)
	masked := stateOf(t, `{Secret: {data: {key: random, other: "", user: you}}, Widget: {spec: {list: [d, random, f]}}, More: {data: {key: x}}}`)
	if diff := cmp.Diff(masked, got); diff != "" {
		t.Errorf("masked (-want +got):\n%s", diff)
	}
	drawn.Mask(cluster.State{}) // nothing to mask
}

func TestWithin(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		want, got string
		within    bool
	}{
		"the same":                     {`{A: {x: {u: 1}}}`, `{A: {x: {u: 1}}}`, true},
		"an extra value":               {`{A: {x: {u: 1}}}`, `{A: {x: {u: 1, v: 2}}}`, true},
		"a missing value":              {`{A: {x: {u: 1, v: 2}}}`, `{A: {x: {u: 1}}}`, false},
		"another value":                {`{A: {x: {u: 1}}}`, `{A: {x: {u: 2, v: 1}}}`, false},
		"an extra element":             {`{A: {x: [1, 3]}}`, `{A: {x: [1, 2, 3]}}`, true},
		"a missing element":            {`{A: {x: [1, 3]}}`, `{A: {x: [1, 2]}}`, false},
		"an element with fewer fields": {`{A: {x: [{u: 1}]}}`, `{A: {x: [{u: 1, v: 2}]}}`, false},
		"a list in place of a map":     {`{A: {x: {u: 1}}}`, `{A: {x: [1]}}`, false},
	} {
		if got := difference.Within(stateOf(t, c.want)["A"], stateOf(t, c.got)["A"]); got != c.within {
			t.Errorf("%s: got %t, want %t", name, got, c.within)
		}
	}
}
