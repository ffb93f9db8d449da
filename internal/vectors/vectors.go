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

// Decision is a case that is answered otherwise on purpose: why, and what of the result differs, as JSON. Maps are laid over the
// recorded result by key, lists by position; null removes a key. A decision without a result is about something that does not
// exist here.
type Decision = struct{ Reason, Want string }

// Suite is a file of recorded cases and what is known about them.
type Suite struct {
	// Path of the file.
	Path string
	// Run answers an input, by the name of the function.
	Run map[string]func(*testing.T, json.RawMessage) any
	// Expected returns the recorded result in the form in which the package answers; nil takes it as it is.
	Expected func(*testing.T, Vector) any
	// Decided are the cases that are answered otherwise, by name.
	Decided map[string]Decision
	// Kept are the cases marked as quirk whose recorded result is right nevertheless: why, by name.
	Kept map[string]string
}

// Test runs each case as a test of its own.
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
			t.Errorf("%q is marked as quirk and nothing is decided about it", v.Name)
		}
		switch {
		case decided && decision.Want == "":
			counts["not applicable"]++
			continue
		case decided:
			counts["decided otherwise"]++
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
			t.Errorf("the decided case has the recorded result: take it out of the table")
		}
		want = override(want, Plain(t, json.RawMessage(otherwise)))
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
}

// override replaces in the recorded result what a decision has, recursively.
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

// Result is a component as the recorded cases have it.
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

// Decode reads JSON, and ends the test where it cannot be read.
func Decode(t *testing.T, raw []byte, into any) {
	t.Helper()
	if err := json.Unmarshal(raw, into); err != nil {
		t.Fatal(err)
	}
}

// Plain turns a value into maps and lists as encoding/json reads them.
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
