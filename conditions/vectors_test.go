package conditions_test

import (
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/reconcilekit/reconcilekit/conditions"
)

// decided has the cases of testdata/vectors.json in which this package differs on purpose: the reason and the result of
// this package.
var decided = map[string]struct{ reason, want string }{
	"set: flip and flip back within one pass moves the time": {
		"lastTransitionTime compares with the stored status, so a flip within one reconciliation does not change it",
		`{"conditions": [{"at": 0, "message": "m", "reason": "R", "status": "True", "type": "A"}]}`,
	},
	"set: order of first appearance is kept": {
		"the order depends only on the types, so that equal conditions have equal bytes",
		`{"conditions": [{"at": 0, "message": "x", "reason": "R", "status": "True", "type": "A"},` +
			`{"at": 0, "message": "m", "reason": "R", "status": "True", "type": "B"},` +
			`{"at": 1, "message": "m", "reason": "R", "status": "True", "type": "C"}]}`,
	},
	"options: AsError": {"only transitions are announced, not every reconciliation", warningOnTransition},
}

const warningOnTransition = `{"eventMode": "transition", "eventType": "Warning", "logMode": "transition"}`

type vector struct {
	Name     string          `json:"name"`
	Fn       string          `json:"fn"`
	Input    json.RawMessage `json:"input"`
	Expected json.RawMessage `json:"expected"`
}

// condition is a condition in a vector; at is the number of seconds since the start.
type condition struct {
	At      int    `json:"at"`
	Op      string `json:"op,omitempty"`
	Type    string `json:"type"`
	Status  string `json:"status"`
	Reason  string `json:"reason"`
	Message string `json:"message"`
}

var start = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

func TestVectors(t *testing.T) {
	t.Parallel()
	raw, err := os.ReadFile("testdata/vectors.json")
	if err != nil {
		t.Fatal(err)
	}
	var vectors []vector
	if err := json.Unmarshal(raw, &vectors); err != nil {
		t.Fatal(err)
	}
	run := map[string]func(*testing.T, json.RawMessage) any{
		"setCondition": runSet, "diff": runDiff, "options": runOptions, "eventText": runEventText,
	}
	counts, used := map[string]int{}, map[string]bool{}
	for _, v := range vectors {
		want := v.Expected
		counts["as recorded"]++
		if d, ok := decided[v.Name]; ok {
			counts["as recorded"]--
			counts["different by decision"]++
			want, used[v.Name] = json.RawMessage(d.want), true
		}
		t.Run(v.Name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(decode(t, want), decode(t, encode(t, run[v.Fn](t, v.Input)))); diff != "" {
				t.Errorf("-want +got\n%s", diff)
			}
		})
	}
	for name := range decided {
		if !used[name] {
			t.Errorf("decided case %q does not exist", name)
		}
	}
	t.Logf("%d cases: %v", len(vectors), counts)
}

func runSet(t *testing.T, input json.RawMessage) any {
	t.Helper()
	var in struct{ Existing, Ops []condition }
	read(t, input, &in)
	at := 0
	for _, op := range in.Ops {
		at = max(at, op.At)
	}
	m := conditions.NewManager(list(in.Existing), 0, start.Add(time.Duration(at)*time.Second))
	for _, op := range in.Ops {
		if op.Op == "delete" {
			m.Delete(op.Type)
			continue
		}
		m.Set(op.Type, metav1.ConditionStatus(op.Status), op.Reason, op.Message)
	}
	return map[string]any{"conditions": facts(m.Conditions())}
}

func runDiff(t *testing.T, input json.RawMessage) any {
	t.Helper()
	var in struct{ Old, New []condition }
	read(t, input, &in)
	var got []string
	m := conditions.NewManager(list(in.Old), 0, start)
	for _, c := range in.New {
		m.Set(c.Type, metav1.ConditionStatus(c.Status), c.Reason, c.Message)
	}
	for _, tr := range m.Transitions() {
		kind := "changed:"
		if tr.Before == nil {
			kind = "added:"
		}
		got = append(got, kind+tr.After.Type)
	}
	slices.Sort(got)
	return map[string]any{"transitions": got}
}

// announcements maps names in the vectors to options of this package.
var announcements = map[string]conditions.Option{
	"AsInfo": conditions.AsInfo, "AsError": conditions.AsError, "Silent": conditions.Silent, "WithWarningEvent": conditions.AsWarning,
}

func runOptions(t *testing.T, input json.RawMessage) any {
	t.Helper()
	var in struct{ Options []string }
	read(t, input, &in)
	var opts []conditions.Option
	for _, name := range in.Options {
		known, ok := announcements[name]
		if !ok {
			t.Fatalf("unknown option %s", name)
		}
		opts = append(opts, known)
	}
	m := conditions.NewManager(nil, 0, start)
	m.MarkTrue("XReady", "R", "m", opts...)
	tr := m.Transitions()[0]
	got := map[string]any{"eventMode": "", "eventType": "Normal", "logMode": ""}
	if tr.Event != nil {
		got["eventMode"], got["eventType"] = "transition", tr.Event.Type
	}
	if tr.LogMessage != "" {
		got["logMode"] = "transition"
	}
	return got
}

func runEventText(t *testing.T, input json.RawMessage) any {
	t.Helper()
	var in struct{ CustomMessage, CustomReason, Message, Reason, Status, Type string }
	read(t, input, &in)
	m := conditions.NewManager(nil, 0, start)
	m.Set(in.Type, metav1.ConditionStatus(in.Status), in.Reason, in.Message,
		conditions.EventReason(in.CustomReason), conditions.EventMessage(in.CustomMessage))
	e := m.Transitions()[0].Event
	return map[string]any{"message": e.Message, "reason": e.Reason}
}

func list(in []condition) []metav1.Condition {
	var out []metav1.Condition
	for _, c := range in {
		out = append(out, metav1.Condition{
			Type: c.Type, Status: metav1.ConditionStatus(c.Status), Reason: c.Reason, Message: c.Message,
			LastTransitionTime: metav1.NewTime(start.Add(time.Duration(c.At) * time.Second)),
		})
	}
	return out
}

func facts(in []metav1.Condition) []condition {
	out := []condition{}
	for _, c := range in {
		out = append(out, condition{
			At: int(c.LastTransitionTime.Sub(start).Seconds()), Type: c.Type, Status: string(c.Status),
			Reason: c.Reason, Message: c.Message,
		})
	}
	return out
}

func read(t *testing.T, raw json.RawMessage, into any) {
	t.Helper()
	if err := json.NewDecoder(strings.NewReader(string(raw))).Decode(into); err != nil {
		t.Fatal(err)
	}
}

func decode(t *testing.T, raw json.RawMessage) any {
	t.Helper()
	var v any
	read(t, raw, &v)
	return v
}

func encode(t *testing.T, v any) json.RawMessage {
	t.Helper()
	raw, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return raw
}
