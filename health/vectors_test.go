package health_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/reconcilekit/reconcilekit/internal/vectors"
)

func TestVectors(t *testing.T) {
	t.Parallel()
	vectors.Suite{
		Path: "testdata/vectors.json", Decided: decided, Kept: kept, Expected: transform,
		Run: map[string]func(*testing.T, json.RawMessage) any{
			"stateEngine": runAssessor, "compare": runCompare,
			"categorize": runCategorize, "errorText": runErrorText, "componentHealth": runComponent,
		},
	}.Test(t)
}

// transform converts a recorded result to the format of this package, with rules that apply to every case.
func transform(t *testing.T, v vectors.Vector) any {
	t.Helper()
	want := vectors.Plain(t, v.Expected)
	if v.Fn == "categorize" {
		keepMessages(t, v, want.(map[string]any))
	}
	if v.Fn != "stateEngine" {
		return want
	}
	before := map[string]map[string]any{}
	for _, step := range want.(map[string]any)["steps"].([]any) {
		s := step.(map[string]any)
		nameWaits(s)
		changed := []string{}
		for _, c := range s["conditions"].([]any) {
			c := c.(map[string]any)
			name := c["type"].(string)
			b, stored := before[name]
			if !stored || b["status"] != c["status"] || b["reason"] != c["reason"] {
				changed = append(changed, c["reason"].(string)+" "+c["message"].(string))
			}
			// lastTransitionTime changes only with the status.
			if stored && b["status"] == c["status"] {
				c["at"] = b["at"]
			}
			before[name] = c
		}
		// Only transitions are announced; the recorded engine also repeats some events and keeps them out of its
		// transitions.
		recorded := append(texts(s["transitionEvents"]), texts(s["recurringEvents"])...)
		events := []any{}
		for _, e := range recorded {
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
		delete(s, "requeueError") // this package names the errors
		sortByType(s["conditions"].([]any))
	}
	return want
}

// nameWaits adds the names of the components to the message of a summary that waits for them.
func nameWaits(step map[string]any) {
	const recorded = "Waiting for components to become ready"
	var summary map[string]any
	var waits []string
	for _, c := range step["conditions"].([]any) {
		c := c.(map[string]any)
		name, component := strings.CutSuffix(c["type"].(string), "Ready")
		switch {
		case c["type"] == "Ready":
			summary = c
		case component && c["status"] != "True":
			waits = append(waits, name+": "+c["message"].(string))
		}
	}
	if summary == nil || summary["message"] != recorded {
		return
	}
	want := "Waiting for " + strings.Join(waits, "; ")
	summary["message"] = want
	for _, events := range []any{step["transitionEvents"], step["recurringEvents"]} {
		events := events.([]any)
		for i := range events {
			events[i] = strings.ReplaceAll(events[i].(string), recorded, want)
		}
	}
}

// keepMessages replaces the recorded messages by those of the error, which contain the category.
func keepMessages(t *testing.T, v vectors.Vector, want map[string]any) {
	t.Helper()
	var in struct{ Error *recordedError }
	vectors.Decode(t, v.Input, &in)
	if in.Error != nil && in.Error.Kind != "state" { // the message of this error is complete
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
