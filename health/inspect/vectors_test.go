package inspect_test

import (
	"encoding/json"
	"os"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

var start = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

// vector is one case of testdata/vectors.json: recorded inputs and results of an engine with these rules.
type vector struct {
	Name     string          `json:"name"`
	Fn       string          `json:"fn"`
	Input    json.RawMessage `json:"input"`
	Expected json.RawMessage `json:"expected"`
	Quirk    string          `json:"quirk"`
}

func TestVectors(t *testing.T) {
	t.Parallel()
	raw, err := os.ReadFile("testdata/vectors.json")
	if err != nil {
		t.Fatal(err)
	}
	var vectors []vector
	decode(t, raw, &vectors)
	run := map[string]func(*testing.T, json.RawMessage) any{
		"podsHealth": runPods, "podsHealthEvents": runPods, "logCategory": runLog,
		"jobHealth": runJob, "pvcHealth": runPVC, "routeHealth": runRoute,
	}
	counts, used := map[string]int{}, map[string]bool{}
	for _, v := range vectors {
		d, ok := decided[v.Name]
		switch {
		case ok:
			counts["decided otherwise"]++
			used[v.Name] = true
		default:
			counts["as recorded"]++
		}
		t.Run(v.Name, func(t *testing.T) {
			t.Parallel()
			want := anyOf(t, v.Expected)
			got := anyOf(t, run[v.Fn](t, v.Input))
			if ok {
				if cmp.Diff(want, got) == "" {
					t.Errorf("the decided case has the recorded result: take it out of the table")
				}
				want = override(want, anyOf(t, json.RawMessage(d.want)))
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("-want +got\n%s", diff)
			}
		})
	}
	for _, v := range vectors {
		if _, ok := decided[v.Name]; v.Quirk != "" && !ok && kept[v.Name] == "" {
			t.Errorf("%q is marked as quirk and nothing is decided about it", v.Name)
		}
	}
	for name := range decided {
		if !used[name] {
			t.Errorf("decided case %q does not exist", name)
		}
	}
	t.Logf("%d cases: %v", len(vectors), counts)
}

// override replaces in the recorded result what a decision says, recursively: maps by key, lists by position where the decision
// has an element; null removes a key.
func override(recorded, decision any) any {
	switch d := decision.(type) {
	case map[string]any:
		r, ok := recorded.(map[string]any)
		if !ok {
			return d
		}
		for k, v := range d {
			if v == nil {
				delete(r, k)
				continue
			}
			r[k] = override(r[k], v)
		}
		return r
	case []any:
		r, ok := recorded.([]any)
		if !ok || len(r) != len(d) {
			return d
		}
		for i, v := range d {
			r[i] = override(r[i], v)
		}
		return r
	}
	return decision
}

func decode(t *testing.T, raw []byte, into any) {
	t.Helper()
	if err := json.Unmarshal(raw, into); err != nil {
		t.Fatal(err)
	}
}

// anyOf turns a value into plain maps and lists.
func anyOf(t *testing.T, v any) any {
	t.Helper()
	raw, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	var out any
	decode(t, raw, &out)
	return out
}
