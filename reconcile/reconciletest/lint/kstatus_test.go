package lint_test

import (
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/reconcilekit/reconcilekit/internal/widget"
	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/lint"
)

// TestKstatus checks that each status that a kstatus client would misinterpret is found, and no other.
func TestKstatus(t *testing.T) {
	t.Parallel()
	now := metav1.Now()
	condition := func(kind string, status metav1.ConditionStatus) metav1.Condition {
		return metav1.Condition{Type: kind, Status: status, Reason: "Because", ObservedGeneration: 2, LastTransitionTime: now}
	}
	with := func(c metav1.Condition, change func(*metav1.Condition)) metav1.Condition {
		change(&c)
		return c
	}
	ready, notReady := condition("Ready", metav1.ConditionTrue), condition("Ready", metav1.ConditionFalse)
	reconciling, stalled := condition("Reconciling", metav1.ConditionTrue), condition("Stalled", metav1.ConditionTrue)
	for name, c := range map[string]struct {
		conditions []metav1.Condition
		observed   int64
		want       string // part of the error; empty means no error
	}{
		"no conditions":                   {nil, 0, ""},
		"ready":                           {[]metav1.Condition{ready, condition("PartsReady", metav1.ConditionFalse)}, 2, ""},
		"ready before a change":           {[]metav1.Condition{with(ready, func(c *metav1.Condition) { c.ObservedGeneration = 1 })}, 1, ""},
		"in progress":                     {[]metav1.Condition{notReady, reconciling}, 2, ""},
		"failed":                          {[]metav1.Condition{notReady, stalled}, 2, ""},
		"paused":                          {[]metav1.Condition{condition("Paused", metav1.ConditionTrue), notReady}, 2, ""},
		"paused immediately":              {[]metav1.Condition{condition("Paused", metav1.ConditionTrue)}, 0, ""},
		"neither Reconciling nor Stalled": {[]metav1.Condition{notReady}, 2, "neither Reconciling nor Stalled"},
		"unknown":                         {[]metav1.Condition{condition("Ready", metav1.ConditionUnknown)}, 2, "Ready is Unknown (Because) with neither"},
		"both":                            {[]metav1.Condition{notReady, reconciling, stalled}, 2, "both Reconciling and Stalled"},
		"ready and stalled":               {[]metav1.Condition{ready, stalled}, 2, "Ready is True together"},
		"no summary":                      {[]metav1.Condition{condition("PartsReady", metav1.ConditionTrue)}, 2, "do not include Ready"},
		"generation":                      {[]metav1.Condition{with(ready, func(c *metav1.Condition) { c.ObservedGeneration = 0 })}, 2, "no observedGeneration"},
		"later generation":                {[]metav1.Condition{with(ready, func(c *metav1.Condition) { c.ObservedGeneration = 3 })}, 2, "above the generation 2"},
		"later object":                    {[]metav1.Condition{ready}, 3, "status.observedGeneration is 3"},
		"no reason":                       {[]metav1.Condition{with(ready, func(c *metav1.Condition) { c.Reason = "" })}, 2, "has no reason"},
		"no time":                         {[]metav1.Condition{with(ready, func(c *metav1.Condition) { c.LastTransitionTime = metav1.Time{} })}, 2, "no lastTransitionTime"},
		"no status":                       {[]metav1.Condition{ready, condition("PartsReady", "yes")}, 2, `status "yes"`},
		"twice":                           {[]metav1.Condition{ready, ready}, 2, "condition Ready is listed twice"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := &widget.Widget{}
			w.Generation, w.Status.ObservedGeneration, w.Status.Conditions = 2, c.observed, c.conditions
			err := lint.Kstatus(w)
			if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
				t.Errorf("got %v, want %q", err, c.want)
			}
		})
	}
}
