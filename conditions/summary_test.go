package conditions_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/reconcilekit/reconcilekit/conditions"
)

func one(conditionType string, status metav1.ConditionStatus, reason, message string) metav1.Condition {
	return metav1.Condition{Type: conditionType, Status: status, Reason: reason, Message: message}
}

// summary formats a result for comparison.
func summary(status metav1.ConditionStatus, reason, message string) string {
	return fmt.Sprintf("%s %s: %s", status, reason, message)
}

func TestSummarize(t *testing.T) {
	t.Parallel()
	ready, degraded := conditions.Input{Type: "ServerReady"}, conditions.Input{Type: "Degraded", Negative: true}
	for name, test := range map[string]struct {
		list   []metav1.Condition
		inputs []conditions.Input
		want   string
	}{
		"no input":                         {want: "True Ready: "},
		"a positive condition is true":     {[]metav1.Condition{one("ServerReady", "True", "Up", "")}, []conditions.Input{ready}, "True Ready: "},
		"a positive condition is false":    {[]metav1.Condition{one("ServerReady", "False", "Down", "no replica")}, []conditions.Input{ready}, "False Down: ServerReady: no replica"},
		"a positive condition is missing":  {nil, []conditions.Input{ready}, "Unknown ConditionMissing: ServerReady: condition ServerReady does not exist"},
		"a negative condition is missing":  {nil, []conditions.Input{degraded}, "True Ready: "},
		"a negative condition is false":    {[]metav1.Condition{one("Degraded", "False", "AsExpected", "")}, []conditions.Input{degraded}, "True Ready: "},
		"a negative condition is true":     {[]metav1.Condition{one("Degraded", "True", "Slow", "2 of 3")}, []conditions.Input{degraded}, "False Slow: Degraded: 2 of 3"},
		"a negative condition is unknown":  {[]metav1.Condition{one("Degraded", "Unknown", "NoData", "")}, []conditions.Input{degraded}, "Unknown NoData: Degraded: NoData"},
		"false outweighs unknown":          {[]metav1.Condition{one("Degraded", "True", "Slow", "2 of 3")}, []conditions.Input{ready, degraded}, "False Slow: Degraded: 2 of 3"},
		"the message lists all bad inputs": {[]metav1.Condition{one("ServerReady", "False", "Down", "a"), one("Degraded", "True", "Slow", "b")}, []conditions.Input{degraded, ready}, "False Slow: Degraded: b; ServerReady: a"},
		"a condition that does not count":  {[]metav1.Condition{one("Other", "False", "Down", "")}, []conditions.Input{degraded}, "True Ready: "},
		"a bad condition without a reason": {[]metav1.Condition{one("ServerReady", "False", "", "")}, []conditions.Input{ready}, "False Unspecified: ServerReady: Unspecified"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(test.want, summary(conditions.Summarize(test.list, test.inputs...))); diff != "" {
				t.Errorf("summary (-want +got):\n%s", diff)
			}
		})
	}
}

func TestTally(t *testing.T) {
	t.Parallel()
	input := conditions.Input{Type: "Ready"}
	type object struct{ name, status, reason string }
	for name, test := range map[string]struct {
		objects []object
		want    string
	}{
		"no object":   {nil, "True Ready: all 0 are ready"},
		"all ready":   {[]object{{"a", "True", "Up"}, {"b", "True", "Up"}}, "True Ready: all 2 are ready"},
		"one unknown": {[]object{{"a", "True", "Up"}, {"b", "Unknown", "NoData"}}, "Unknown NoData: 1 of 2 are not ready: 1 NoData (b)"},
		"the most frequent reason is first": {
			[]object{{"e", "False", "Pull"}, {"d", "False", "Pull"}, {"c", "False", "Pull"}, {"b", "False", "Pull"}, {"a", "False", "Crash"}, {"f", "True", "Up"}},
			"False Pull: 5 of 6 are not ready: 4 Pull (b, c, d and 1 more), 1 Crash (a)",
		},
		"equal counts are in the order of their reasons": {
			[]object{{"a", "False", "Z"}, {"b", "False", "A"}}, "False A: 2 of 2 are not ready: 1 A (b), 1 Z (a)",
		},
		"a bad object outweighs unknown ones": {
			[]object{{"a", "Unknown", "NoData"}, {"b", "Unknown", "NoData"}, {"c", "False", "Crash"}},
			"False Crash: 3 of 3 are not ready: 1 Crash (c), 2 NoData (a, b)",
		},
		"more reasons than fit": {
			[]object{{"a", "False", "A"}, {"b", "False", "B"}, {"c", "False", "C"}, {"d", "False", "D"}, {"e", "False", "E"}},
			"False A: 5 of 5 are not ready: 1 A (a), 1 B (b), 1 C (c), 2 more reasons",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var forward, backward conditions.Tally
			for i := range test.objects {
				for _, add := range []struct {
					to *conditions.Tally
					o  object
				}{{&forward, test.objects[i]}, {&backward, test.objects[len(test.objects)-1-i]}} {
					add.to.Add(add.o.name, []metav1.Condition{one("Ready", metav1.ConditionStatus(add.o.status), add.o.reason, "")}, input)
				}
			}
			if diff := cmp.Diff(test.want, summary(forward.Status())); diff != "" {
				t.Errorf("summary (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(summary(forward.Status()), summary(backward.Status())); diff != "" {
				t.Errorf("the summary depends on the order (-forward +backward):\n%s", diff)
			}
		})
	}
}

func TestTallyBoundsItsMessage(t *testing.T) {
	t.Parallel()
	var tally conditions.Tally
	for i := range 1000 {
		name := fmt.Sprintf("%04d-%s", i, strings.Repeat("n", 240))
		tally.Add(name, nil, conditions.Input{Type: strings.Repeat("T", 300)})
	}
	_, _, message := tally.Status()
	if len(message) > 1024 {
		t.Errorf("the message has %d bytes", len(message))
	}
	if !strings.HasPrefix(message, "1000 of 1000 are not ready: 1000 ConditionMissing (0000-") {
		t.Errorf("got %q", message)
	}
}
