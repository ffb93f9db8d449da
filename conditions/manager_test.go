package conditions_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/reconcilekit/reconcilekit/conditions"
)

// stored returns a condition that an earlier reconciliation stored at the start time for generation 1.
func stored(conditionType string, status metav1.ConditionStatus, reason, message string) metav1.Condition {
	return metav1.Condition{
		Type: conditionType, Status: status, Reason: reason, Message: message,
		ObservedGeneration: 1, LastTransitionTime: metav1.NewTime(start),
	}
}

func TestManager(t *testing.T) {
	t.Parallel()
	later := start.Add(time.Minute)
	cases := map[string]struct {
		reason      string
		existing    []metav1.Condition
		pass        func(m *conditions.Manager)
		want        []metav1.Condition
		managed     []string
		transitions []string
	}{
		"new": {
			reason: "A new condition gets the time and the generation of the reconciliation.",
			pass:   func(m *conditions.Manager) { m.MarkTrue("AReady", "Fine", "all of it") },
			want: []metav1.Condition{{
				Type: "AReady", Status: "True", Reason: "Fine", Message: "all of it",
				ObservedGeneration: 2, LastTransitionTime: metav1.NewTime(later),
			}},
			managed: []string{"AReady"}, transitions: []string{"AReady"},
		},
		"reason": {
			reason:   "A new reason is a transition, but the status did not flip.",
			existing: []metav1.Condition{stored("AReady", "False", "Busy", "")},
			pass:     func(m *conditions.Manager) { m.MarkFalse("AReady", "Busier", "") },
			want: []metav1.Condition{{
				Type: "AReady", Status: "False", Reason: "Busier", ObservedGeneration: 2, LastTransitionTime: metav1.NewTime(start),
			}},
			managed: []string{"AReady"}, transitions: []string{"AReady"},
		},
		"message": {
			reason:   "A new message alone is stored without a transition.",
			existing: []metav1.Condition{stored("AReady", "False", "Busy", "1 of 3")},
			pass:     func(m *conditions.Manager) { m.MarkFalse("AReady", "Busy", "2 of 3") },
			want: []metav1.Condition{{
				Type: "AReady", Status: "False", Reason: "Busy", Message: "2 of 3",
				ObservedGeneration: 2, LastTransitionTime: metav1.NewTime(start),
			}},
			managed: []string{"AReady"},
		},
		"others": {
			reason:   "Conditions of other writers are kept unchanged and are not managed; Ready comes first.",
			existing: []metav1.Condition{stored("Theirs", "Unknown", "X", "y"), stored("Ready", "True", "R", "")},
			pass:     func(m *conditions.Manager) { m.MarkUnknown("Another", "New", "") },
			want: []metav1.Condition{
				stored("Ready", "True", "R", ""),
				{Type: "Another", Status: "Unknown", Reason: "New", ObservedGeneration: 2, LastTransitionTime: metav1.NewTime(later)},
				stored("Theirs", "Unknown", "X", "y"),
			},
			managed: []string{"Another"}, transitions: []string{"Another"},
		},
		"stale": {
			reason: "RemoveStale deletes matching conditions that were not set, without a transition.",
			existing: []metav1.Condition{
				stored("GoneReady", "False", "R", ""), stored("Theirs", "True", "R", ""), stored("KeptReady", "True", "R", ""),
			},
			pass: func(m *conditions.Manager) {
				m.MarkTrue("KeptReady", "R", "")
				m.RemoveStale(func(t string) bool { return t != "Theirs" })
			},
			want: []metav1.Condition{
				{Type: "KeptReady", Status: "True", Reason: "R", ObservedGeneration: 2, LastTransitionTime: metav1.NewTime(start)},
				stored("Theirs", "True", "R", ""),
			},
			managed: []string{"KeptReady"},
		},
		"deleted and set again": {
			reason:   "Setting a deleted condition restores it.",
			existing: []metav1.Condition{stored("AReady", "True", "R", "")},
			pass: func(m *conditions.Manager) {
				m.Delete("AReady")
				m.MarkTrue("AReady", "R", "")
			},
			want: []metav1.Condition{
				{Type: "AReady", Status: "True", Reason: "R", ObservedGeneration: 2, LastTransitionTime: metav1.NewTime(start)},
			},
			managed: []string{"AReady"},
		},
		"kept": {
			reason:   "Keep confirms a stored condition for this generation and does not create one.",
			existing: []metav1.Condition{stored("AReady", "True", "R", "m")},
			pass: func(m *conditions.Manager) {
				if !m.Keep("AReady") || m.Keep("BReady") {
					t.Error("Keep must report whether the condition is stored")
				}
			},
			want: []metav1.Condition{
				{Type: "AReady", Status: "True", Reason: "R", Message: "m", ObservedGeneration: 2, LastTransitionTime: metav1.NewTime(start)},
			},
			managed: []string{"AReady"},
		},
		"stored twice": {
			reason:   "The first of two conditions of one type is kept.",
			existing: []metav1.Condition{stored("A", "True", "First", ""), stored("A", "False", "Second", "")},
			pass:     func(*conditions.Manager) {},
			want:     []metav1.Condition{stored("A", "True", "First", "")},
			managed:  []string{},
		},
		"no time stored": {
			reason:   "A stored condition without a time gets one.",
			existing: []metav1.Condition{{Type: "A", Status: "True", Reason: "R"}},
			pass:     func(m *conditions.Manager) { m.MarkTrue("A", "R", "") },
			want: []metav1.Condition{
				{Type: "A", Status: "True", Reason: "R", ObservedGeneration: 2, LastTransitionTime: metav1.NewTime(later)},
			},
			managed: []string{"A"},
		},
		"repaired": {
			reason: "Values that the API would reject are repaired.",
			pass:   func(m *conditions.Manager) { m.MarkFalse("A", "404 not-found!", "a\xffb") },
			want: []metav1.Condition{{
				Type: "A", Status: "False", Reason: "notfound", Message: "a\uFFFDb",
				ObservedGeneration: 2, LastTransitionTime: metav1.NewTime(later),
			}},
			managed: []string{"A"}, transitions: []string{"A"},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			before := slices.Clone(tc.existing)
			m := conditions.NewManager(tc.existing, 2, later.Add(300*time.Millisecond))
			tc.pass(m)
			if diff := cmp.Diff(tc.want, m.Conditions()); diff != "" {
				t.Errorf("%s\nconditions -want +got\n%s", tc.reason, diff)
			}
			if diff := cmp.Diff(tc.managed, m.Managed()); diff != "" {
				t.Errorf("%s\nmanaged -want +got\n%s", tc.reason, diff)
			}
			var gotTransitions []string
			for _, tr := range m.Transitions() {
				gotTransitions = append(gotTransitions, tr.After.Type)
			}
			if diff := cmp.Diff(tc.transitions, gotTransitions); diff != "" {
				t.Errorf("%s\ntransitions -want +got\n%s", tc.reason, diff)
			}
			if diff := cmp.Diff(before, tc.existing); diff != "" {
				t.Errorf("the stored list was changed\n%s", diff)
			}
		})
	}
}

func TestStatus(t *testing.T) {
	t.Parallel()
	for holds, want := range map[bool]metav1.ConditionStatus{true: metav1.ConditionTrue, false: metav1.ConditionFalse} {
		if got := conditions.Status(holds); got != want {
			t.Errorf("%t: %s, want %s", holds, got, want)
		}
	}
}

func TestAnnouncements(t *testing.T) {
	t.Parallel()
	type announced struct {
		Event      *conditions.Event
		LogMessage string
		LogAsError bool
	}
	normal := &conditions.Event{Type: "Normal", Reason: "R", Message: "m"}
	warning := &conditions.Event{Type: "Warning", Reason: "R", Message: "m"}
	const line = "Cache is not ready"
	cases := map[string]struct {
		status metav1.ConditionStatus
		text   string
		opts   []conditions.Option
		want   announced
	}{
		"default":                {"True", "m", nil, announced{normal, "Cache is ready", false}},
		"no option":              {"False", "m", []conditions.Option{nil}, announced{normal, line, false}},
		"info":                   {"False", "m", []conditions.Option{conditions.AsInfo}, announced{normal, line, false}},
		"warning":                {"False", "m", []conditions.Option{conditions.AsWarning}, announced{warning, line, false}},
		"error":                  {"False", "m", []conditions.Option{conditions.AsError}, announced{warning, line, true}},
		"silent":                 {"False", "m", []conditions.Option{conditions.AsError, conditions.Silent}, announced{}},
		"the last wins":          {"False", "m", []conditions.Option{conditions.Silent, conditions.AsInfo}, announced{normal, line, false}},
		"silent, with a message": {"False", "m", []conditions.Option{conditions.Silent, conditions.EventMessage("lost")}, announced{}},
		"no message": {"Unknown", "", nil, announced{
			&conditions.Event{Type: "Normal", Reason: "R", Message: "Cache status unknown: R"}, "Cache status unknown", false,
		}},
		"long": {"False", strings.Repeat("é", 1000), nil, announced{
			&conditions.Event{Type: "Normal", Reason: "R", Message: strings.Repeat("é", 510) + "..."}, line, false,
		}},
		"event options": {
			"False", "m",
			[]conditions.Option{conditions.EventReason("Lost"), conditions.EventMessage("it is lost")},
			announced{&conditions.Event{Type: "Normal", Reason: "Lost", Message: "it is lost"}, line, false},
		},
		"empty event options": {"False", "m", []conditions.Option{conditions.EventReason(""), conditions.EventMessage("")}, announced{normal, line, false}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := conditions.NewManager(nil, 1, start)
			m.Set("CacheReady", tc.status, "R", tc.text, tc.opts...)
			tr := m.Transitions()[0]
			if diff := cmp.Diff(tc.want, announced{tr.Event, tr.LogMessage, tr.LogAsError}); diff != "" {
				t.Errorf("-want +got\n%s", diff)
			}
		})
	}
}

// TestAnnouncement checks that the announcement of a condition can be read and used again after the condition changed.
func TestAnnouncement(t *testing.T) {
	t.Parallel()
	m := conditions.NewManager([]metav1.Condition{stored("BReady", "True", "R", "")}, 1, start)
	m.MarkFalse("AReady", "R", "m", conditions.AsWarning, conditions.EventReason("Lost"))
	option, set := m.Announcement("AReady")
	if !set {
		t.Fatal("the condition was set and has no announcement")
	}
	m.MarkFalse("AReady", "Other", "n")
	m.MarkFalse("AReady", "R", "m", option)
	want := &conditions.Event{Type: "Warning", Reason: "Lost", Message: "m"}
	if diff := cmp.Diff(want, m.Transitions()[0].Event); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
	for _, conditionType := range []string{"BReady", "CReady"} {
		if option, set := m.Announcement(conditionType); set || option != nil {
			t.Errorf("%s was not set, but has the announcement %v", conditionType, option)
		}
	}
}

// TestTransitionLog checks that the log line of a transition has the condition in its key-value pairs.
func TestTransitionLog(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		conditionType string
		status        metav1.ConditionStatus
		want          string
	}{
		"ready":             {"CacheReady", "True", "Cache is ready"},
		"not ready":         {"CacheReady", "False", "Cache is not ready"},
		"unknown":           {"CacheReady", "Unknown", "Cache status unknown"},
		"the object":        {"Ready", "True", "object is ready"},
		"no readiness":      {"Stalled", "True", "Stalled is True"},
		"not a known state": {"CacheReady", "Perhaps", "Cache status unknown"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := conditions.NewManager(nil, 1, start)
			m.Set(tc.conditionType, tc.status, "R", "m")
			tr := m.Transitions()[0]
			if tr.LogMessage != tc.want {
				t.Errorf("message = %q, want %q", tr.LogMessage, tc.want)
			}
			values := []any{"condition", tc.conditionType, "status", string(tc.status), "reason", "R", "message", "m"}
			if diff := cmp.Diff(values, tr.LogValues()); diff != "" {
				t.Errorf("-want +got\n%s", diff)
			}
		})
	}
}

func TestManagerReads(t *testing.T) {
	t.Parallel()
	before := stored("AReady", "True", "R", "m")
	m := conditions.NewManager([]metav1.Condition{before, stored("BReady", "True", "R", "")}, 3, start.Add(1500*time.Millisecond))
	m.MarkFalse("AReady", "Lost", "")
	m.MarkUnknown("CReady", "New", "")
	m.Delete("BReady")
	m.Delete("DReady")
	if got := m.Now(); !got.Equal(start.Add(time.Second)) || m.Generation() != 3 {
		t.Errorf("time %v, generation %d", got, m.Generation())
	}
	if got, found := m.Stored("AReady"); !found || got != before {
		t.Errorf("stored = %v, %v", got, found)
	}
	if got, found := m.Get("AReady"); !found || got.Reason != "Lost" {
		t.Errorf("current = %v, %v", got, found)
	}
	if _, found := m.Stored("CReady"); found {
		t.Error("a new condition counts as stored")
	}
	for _, conditionType := range []string{"BReady", "DReady"} {
		if _, found := m.Get(conditionType); found {
			t.Errorf("found %s, which was deleted or never set", conditionType)
		}
	}
	var first []string
	for c := range m.EachManaged {
		first = append(first, c.Type)
		break
	}
	if diff := cmp.Diff([]string{"AReady"}, first); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
	m.RemoveStale(nil)
	if got := len(m.Conditions()); got != 2 {
		t.Errorf("%d conditions, want 2", got)
	}
}

// TestRenew checks that only conditions that were set are renewed.
func TestRenew(t *testing.T) {
	t.Parallel()
	const later = 90 * time.Second
	m := conditions.NewManager([]metav1.Condition{stored("AReady", "True", "R", "m"), stored("BReady", "True", "R", "m")}, 1, start.Add(later))
	m.MarkTrue("AReady", "R", "n")
	for _, conditionType := range []string{"AReady", "BReady", "CReady"} {
		m.Renew(conditionType)
	}
	renewed := map[string]bool{}
	for _, c := range m.Conditions() {
		renewed[c.Type] = c.LastTransitionTime.Equal(&metav1.Time{Time: start.Add(later)})
	}
	if diff := cmp.Diff(map[string]bool{"AReady": true, "BReady": false}, renewed); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
}
