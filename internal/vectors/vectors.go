package vectors

import (
	"encoding/json"
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/reconcilekit/reconcilekit/health"
)

// Vector is one recorded case.
type Vector struct {
	Name     string          `json:"name"`
	Fn       string          `json:"fn"`
	Input    json.RawMessage `json:"input"`
	Expected json.RawMessage `json:"expected"`
	Quirk    string          `json:"quirk"`
}

// Decision is an intended difference from a recorded case: the reason, and the different part of the result as JSON. Maps are merged into
// the recorded result by key, lists by position; null removes a key. A decision without a result is about a feature that does not exist
// here.
type Decision = struct{ Reason, Want string }

// Suite is a file of recorded cases and its decisions.
type Suite struct {
	// Path of the file.
	Path string
	// Run computes the result of an input, by the name of the function.
	Run map[string]func(*testing.T, json.RawMessage) any
	// Expected converts the recorded result to the format of the package; nil does not convert it.
	Expected func(*testing.T, Vector) any
	// Decided are the intended differences, by name.
	Decided map[string]Decision
	// Kept are cases marked as quirk whose recorded result is nevertheless correct: the reason, by name.
	Kept map[string]string
}

// Test runs each case as a subtest.
func (s Suite) Test(t *testing.T) { //nolint:tparallel // the test that calls it is parallel
	t.Helper()
	raw, err := os.ReadFile(s.Path)
	if err != nil {
		t.Fatal(err)
	}
	var all []Vector
	Decode(t, raw, &all)
	known, counts := map[string]bool{}, map[string]int{}
	for _, v := range all {
		known[v.Name] = true
		decision, decided := s.Decided[v.Name]
		if v.Quirk != "" && !decided && s.Kept[v.Name] == "" {
			t.Errorf("%q is marked as quirk and has no decision", v.Name)
		}
		switch {
		case decided && decision.Want == "":
			counts["not applicable"]++
			continue
		case decided:
			counts["different by decision"]++
		default:
			counts["as recorded"]++
		}
		t.Run(v.Name, func(t *testing.T) {
			t.Parallel()
			s.test(t, v, decision.Want)
		})
	}
	for name := range s.Decided {
		if !known[name] {
			t.Errorf("decided case %q does not exist", name)
		}
	}
	t.Logf("%d cases: %v", len(all), counts)
}

func (s Suite) test(t *testing.T, v Vector, otherwise string) {
	t.Helper()
	run, ok := s.Run[v.Fn]
	if !ok {
		t.Fatalf("no function %q", v.Fn)
	}
	want, got := Plain(t, v.Expected), Plain(t, run(t, v.Input))
	if s.Expected != nil {
		want = s.Expected(t, v)
	}
	if otherwise != "" {
		if cmp.Diff(want, got) == "" {
			t.Errorf("the decided case has the recorded result: remove it from the table")
		}
		want = override(want, Plain(t, json.RawMessage(otherwise)))
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
}

// override merges a decision into the recorded result recursively.
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

// Result returns a component in the format of the recorded cases.
func Result(c health.Component) map[string]any {
	out := map[string]any{"state": c.GetState(), "reason": c.GetReason(), "message": c.GetMessage()}
	if c.Name != "" {
		out["component"] = c.Name
	}
	var categories []string
	for _, err := range c.Errors {
		categories = append(categories, health.Categorize(err).Category.String())
	}
	if categories != nil {
		out["errorCategories"] = categories
	}
	return out
}

// Decode parses JSON, and fails the test on an error.
func Decode(t *testing.T, raw []byte, into any) {
	t.Helper()
	if err := json.Unmarshal(raw, into); err != nil {
		t.Fatal(err)
	}
}

// Plain converts a value to maps and lists as encoding/json decodes them.
func Plain(t *testing.T, v any) any {
	t.Helper()
	raw, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	var out any
	Decode(t, raw, &out)
	return out
}
