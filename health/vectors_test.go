package health_test

import (
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

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
		"stateEngine": runAssessor, "compare": runCompare,
		"categorize": runCategorize, "errorText": runErrorText, "componentHealth": runComponent,
	}
	counts, used := map[string]int{}, map[string]bool{}
	for _, v := range vectors {
		d, ok := decided[v.Name]
		switch {
		case ok && d.want == "":
			counts["not applicable"]++
			used[v.Name] = true
			continue
		case ok:
			counts["decided otherwise"]++
			used[v.Name] = true
		default:
			counts["as recorded"]++
		}
		t.Run(v.Name, func(t *testing.T) {
			t.Parallel()
			want := transform(t, v)
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

// transform gives a recorded result the form in which this package answers, by rules that hold for every case.
func transform(t *testing.T, v vector) any {
	t.Helper()
	want := anyOf(t, v.Expected)
	if v.Fn == "categorize" {
		keepWords(t, v, want.(map[string]any))
	}
	if v.Fn != "stateEngine" {
		return want
	}
	before := map[string]map[string]any{}
	for _, step := range want.(map[string]any)["steps"].([]any) {
		s := step.(map[string]any)
		changed := []string{}
		for _, c := range s["conditions"].([]any) {
			c := c.(map[string]any)
			name := c["type"].(string)
			b, stored := before[name]
			if !stored || b["status"] != c["status"] || b["reason"] != c["reason"] {
				changed = append(changed, c["reason"].(string)+" "+c["message"].(string))
			}
			// lastTransitionTime moves with the status alone.
			if stored && b["status"] == c["status"] {
				c["at"] = b["at"]
			}
			before[name] = c
		}
		// Only transitions are announced; the recorded engine repeats some and leaves those out of its transitions.
		told := append(texts(s["transitionEvents"]), texts(s["recurringEvents"])...)
		events := []any{}
		for _, e := range told {
			_, text, _ := strings.Cut(e, " ")
			if at := slices.Index(changed, text); at >= 0 {
				events = append(events, e)
				changed = slices.Delete(changed, at, at+1)
			}
		}
		slices.SortFunc(events, func(a, b any) int { return strings.Compare(a.(string), b.(string)) })
		s["events"] = events
		delete(s, "transitionEvents")
		delete(s, "recurringEvents")
		delete(s, "requeueError") // ours names the errors
		sortByType(s["conditions"].([]any))
	}
	return want
}

// keepWords puts the words of the error in the place of the recorded ones: a category is added to what was said.
func keepWords(t *testing.T, v vector, want map[string]any) {
	t.Helper()
	var in struct{ Error *recordedError }
	decode(t, v.Input, &in)
	if in.Error != nil && in.Error.Kind != "state" { // the author of that one has said it all
		want["message"] = in.Error.make(t).Error()
	}
}

func texts(list any) []string {
	var out []string
	for _, item := range list.([]any) {
		out = append(out, item.(string))
	}
	return out
}

func sortByType(list []any) {
	slices.SortFunc(list, func(a, b any) int {
		return strings.Compare(a.(map[string]any)["type"].(string), b.(map[string]any)["type"].(string))
	})
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
