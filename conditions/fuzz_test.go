package conditions_test

import (
	"regexp"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/reconcilekit/reconcilekit/conditions"
)

// reasonPattern is the pattern of metav1.Condition.
var reasonPattern = regexp.MustCompile(`^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$`)

func FuzzBound(f *testing.F) {
	for _, s := range []string{"", "a", strings.Repeat("a", 1024), strings.Repeat("é", 1024), "a\xff" + strings.Repeat("b", 2000)} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		got := conditions.Bound(text)
		if len(got) > 1024 || !utf8.ValidString(got) {
			t.Errorf("%d bytes, valid %v", len(got), utf8.ValidString(got))
		}
		if len(text) <= 1024 && utf8.ValidString(text) && got != text {
			t.Errorf("%q became %q", text, got)
		}
		if again := conditions.Bound(got); again != got {
			t.Errorf("not idempotent: %q became %q", got, again)
		}
	})
}

// accepted returns the stored form of a reason.
func accepted(reason string) string {
	m := conditions.NewManager(nil, 1, start)
	m.MarkTrue("A", reason, "")
	return m.Conditions()[0].Reason
}

func FuzzReason(f *testing.F) {
	for _, s := range []string{"", "Fine", "not fine", "9lives", "a:", ",:,", "Ünder", strings.Repeat("A", 1025) + ":"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, reason string) {
		got := accepted(reason)
		if !reasonPattern.MatchString(got) || len(got) > 1024 {
			t.Errorf("%q became %q, which the API rejects", reason, got)
		}
		if len(reason) <= 1024 && reasonPattern.MatchString(reason) && got != reason {
			t.Errorf("the valid %q became %q", reason, got)
		}
		if again := accepted(got); again != got {
			t.Errorf("not idempotent: %q became %q", got, again)
		}
	})
}

// FuzzManager sets conditions derived from the bytes in two reconciliations, and checks the invariants of the result.
func FuzzManager(f *testing.F) {
	f.Add([]byte{0, 1, 2, 3}, []byte{4, 5, 6})
	f.Add([]byte{7, 7, 7}, []byte{255, 128, 7})
	types := []string{"Ready", "AReady", "BReady", "Zeta", "Alpha"}
	statuses := []metav1.ConditionStatus{metav1.ConditionTrue, metav1.ConditionFalse, metav1.ConditionUnknown}
	pass := func(existing []metav1.Condition, generation int64, ops []byte) *conditions.Manager {
		m := conditions.NewManager(existing, generation, start.Add(time.Duration(generation)*time.Hour))
		for _, op := range ops {
			conditionType, status := types[int(op)%5], statuses[int(op/5)%3]
			if op > 240 {
				m.Delete(conditionType)
				continue
			}
			m.Set(conditionType, status, []string{"A", "B"}[int(op/15)%2], "m")
		}
		return m
	}
	f.Fuzz(func(t *testing.T, first, second []byte) {
		before := pass(nil, 1, first).Conditions()
		m := pass(before, 2, second)
		after := m.Conditions()
		managed := map[string]bool{}
		for _, name := range m.Managed() {
			managed[name] = true
		}
		for i, c := range after {
			old := find(before, c.Type)
			flipped := old.Status != c.Status
			if moved := !old.LastTransitionTime.Equal(&c.LastTransitionTime); moved != flipped {
				t.Errorf("%s: status changed %v, time changed %v", c.Type, flipped, moved)
			}
			if managed[c.Type] && c.ObservedGeneration != 2 || !managed[c.Type] && c != old {
				t.Errorf("%s: managed %v, was %v, is %v", c.Type, managed[c.Type], old, c)
			}
			if i > 0 && (c.Type == "Ready" || after[i-1].Type != "Ready" && after[i-1].Type >= c.Type) {
				t.Errorf("%s comes after %s", c.Type, after[i-1].Type)
			}
		}
		changed := 0
		for _, c := range after {
			if old := find(before, c.Type); managed[c.Type] && (old.Status != c.Status || old.Reason != c.Reason) {
				changed++
			}
		}
		if got := len(m.Transitions()); got != changed {
			t.Errorf("%d transitions, the lists differ in %d", got, changed)
		}
	})
}

// find returns the condition of a type, or the zero value.
func find(list []metav1.Condition, conditionType string) metav1.Condition {
	for _, c := range list {
		if c.Type == conditionType {
			return c
		}
	}
	return metav1.Condition{}
}
