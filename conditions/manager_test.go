package conditions_test

import (
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/reconcilekit/reconcilekit/conditions"
)

// stored is a condition as an earlier pass left it, at the start and for generation 1.
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
			reason: "A new condition gets the time and the generation of the pass.",
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
			reason:   "A new message alone is stored and not told.",
			existing: []metav1.Condition{stored("AReady", "False", "Busy", "1 of 3")},
			pass:     func(m *conditions.Manager) { m.MarkFalse("AReady", "Busy", "2 of 3") },
			want: []metav1.Condition{{
				Type: "AReady", Status: "False", Reason: "Busy", Message: "2 of 3",
				ObservedGeneration: 2, LastTransitionTime: metav1.NewTime(start),
			}},
			managed: []string{"AReady"},
		},
		"others": {
			reason:   "What others wrote stays byte for byte and is not managed; Ready comes first.",
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
			reason: "Of the stored conditions that were not set, those go that are ours; a removal is not told.",
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
			reason:   "The last word counts.",
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
			reason:   "Keep confirms what is stored, for this generation; of what is not stored it makes nothing.",
			existing: []metav1.Condition{stored("AReady", "True", "R", "m")},
			pass: func(m *conditions.Manager) {
				if !m.Keep("AReady") || m.Keep("BReady") {
					t.Error("Keep does not say what it did")
				}
			},
			want: []metav1.Condition{
				{Type: "AReady", Status: "True", Reason: "R", Message: "m", ObservedGeneration: 2, LastTransitionTime: metav1.NewTime(start)},
			},
			managed: []string{"AReady"},
		},
		"stored twice": {
			reason:   "The first of two conditions of one type counts.",
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
			reason: "What the API would refuse is repaired.",
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
			var told []string
			for _, tr := range m.Transitions() {
				told = append(told, tr.After.Type)
			}
			if diff := cmp.Diff(tc.transitions, told); diff != "" {
				t.Errorf("%s\ntransitions -want +got\n%s", tc.reason, diff)
			}
			if diff := cmp.Diff(before, tc.existing); diff != "" {
				t.Errorf("the stored list was changed\n%s", diff)
			}
		})
	}
}

func TestTransitionTexts(t *testing.T) {
	t.Parallel()
	type told struct {
		Event *conditions.Event
		Log   *conditions.Log
	}
	cases := map[string]struct {
		status metav1.ConditionStatus
		text   string
		opts   []conditions.Option
		want   told
	}{
		"default": {"True", "works", nil, told{
			&conditions.Event{Type: "Normal", Reason: "R", Message: "works"}, &conditions.Log{Message: "Cache is ready"},
		}},
		"no message": {"Unknown", "", nil, told{
			&conditions.Event{Type: "Normal", Reason: "R", Message: "Cache status unknown: R"},
			&conditions.Log{Message: "Cache status unknown"},
		}},
		"warning": {"False", "m", []conditions.Option{conditions.AsWarning}, told{
			&conditions.Event{Type: "Warning", Reason: "R", Message: "m"}, &conditions.Log{Message: "Cache is not ready"},
		}},
		"error": {"False", "m", []conditions.Option{conditions.AsError}, told{
			&conditions.Event{Type: "Warning", Reason: "R", Message: "m"},
			&conditions.Log{Error: true, Message: "Cache is not ready"},
		}},
		"silent": {"False", "m", []conditions.Option{conditions.AsError, conditions.Silent}, told{}},
		"words": {
			"False", "m",
			[]conditions.Option{
				conditions.EventReason("Lost"), conditions.EventMessage("it is lost"), conditions.LogMessage("lost"), conditions.Level(2),
			},
			told{
				&conditions.Event{Type: "Normal", Reason: "Lost", Message: "it is lost"}, &conditions.Log{Level: 2, Message: "lost"},
			},
		},
		"log alone":   {"False", "m", []conditions.Option{conditions.NoEvent}, told{nil, &conditions.Log{Message: "Cache is not ready"}}},
		"event alone": {"False", "m", []conditions.Option{conditions.Level(-1), nil}, told{&conditions.Event{Type: "Normal", Reason: "R", Message: "m"}, nil}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := conditions.NewManager(nil, 1, start)
			m.Set("CacheReady", tc.status, "R", tc.text, tc.opts...)
			tr := m.Transitions()[0]
			if diff := cmp.Diff(tc.want, told{tr.Event, tr.Log}); diff != "" {
				t.Errorf("-want +got\n%s", diff)
			}
		})
	}
}

func TestEqual(t *testing.T) {
	t.Parallel()
	a, b := stored("A", "True", "R", ""), stored("B", "False", "R", "")
	moved := a
	moved.LastTransitionTime = metav1.NewTime(start.Add(time.Second))
	zone := a
	zone.LastTransitionTime = metav1.NewTime(start.In(time.FixedZone("there", 3600)))
	cases := map[string]struct {
		x, y []metav1.Condition
		want bool
	}{
		"order":     {[]metav1.Condition{a, b}, []metav1.Condition{b, a}, true},
		"time zone": {[]metav1.Condition{a}, []metav1.Condition{zone}, true},
		"time":      {[]metav1.Condition{a}, []metav1.Condition{moved}, false},
		"missing":   {[]metav1.Condition{a, b}, []metav1.Condition{a}, false},
		"other":     {[]metav1.Condition{a}, []metav1.Condition{b}, false},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := conditions.Equal(tc.x, tc.y); got != tc.want {
				t.Errorf("Equal = %v, want %v", got, tc.want)
			}
		})
	}
}

func TestOwned(t *testing.T) {
	t.Parallel()
	fields := []metav1.ManagedFieldsEntry{
		{Manager: "me", Subresource: "status", FieldsV1: metav1.NewFieldsV1(
			`{"f:status":{"f:conditions":{".":{},"k:{\"type\":\"Ready\"}":{"f:status":{}},"k:{\"type\":\"AReady\"}":{}}}}`)},
		{Manager: "you", FieldsV1: metav1.NewFieldsV1(`{"f:status":{"f:conditions":{"k:{\"type\":\"Theirs\"}":{}}}}`)},
		{Manager: "me", FieldsV1: metav1.NewFieldsV1(`{"f:spec":{}}`)},
		{Manager: "me", FieldsV1: metav1.NewFieldsV1(`not json`)},
		{Manager: "me"},
	}
	own := conditions.Owned(fields, "me")
	for conditionType, want := range map[string]bool{"Ready": true, "AReady": true, "Theirs": false, ".": false} {
		if got := own(conditionType); got != want {
			t.Errorf("owned(%s) = %v, want %v", conditionType, got, want)
		}
	}
	if conditions.Owned(nil, "me")("Ready") {
		t.Error("without managedFields something is owned")
	}
}

func TestOwnsList(t *testing.T) {
	t.Parallel()
	entry := func(manager, fields string) metav1.ManagedFieldsEntry {
		return metav1.ManagedFieldsEntry{Manager: manager, Subresource: "status", FieldsV1: metav1.NewFieldsV1(fields)}
	}
	for name, tc := range map[string]struct {
		fields []metav1.ManagedFieldsEntry
		want   bool
	}{
		"ours as a whole":    {[]metav1.ManagedFieldsEntry{entry("me", `{"f:status":{"f:conditions":{}}}`)}, true},
		"theirs as a whole":  {[]metav1.ManagedFieldsEntry{entry("you", `{"f:status":{"f:conditions":{}}}`), entry("me", `{"f:status":{}}`)}, false},
		"ours, keyed":        {[]metav1.ManagedFieldsEntry{entry("me", `{"f:status":{"f:conditions":{".":{},"k:{\"type\":\"Ready\"}":{}}}}`)}, false},
		"stripped":           {nil, false},
		"not written so far": {[]metav1.ManagedFieldsEntry{entry("me", `{"f:spec":{}}`)}, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := conditions.OwnsList(tc.fields, "me"); got != tc.want {
				t.Errorf("OwnsList = %v, want %v", got, tc.want)
			}
		})
	}
}
