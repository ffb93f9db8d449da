package inspect

import (
	"cmp"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/reconcilekit/reconcilekit/health"
)

// ByConditions inspects an object by the given condition types: all of them must exist, be True and be of the current generation. Use it
// for kinds with condition types of their own. Without types it acts like [Of] for a kind without an inspector.
func ByConditions(obj runtime.Object, types ...string) health.Component {
	r, absent := read(obj)
	if absent.Errors != nil {
		return absent
	}
	if len(types) == 0 {
		return r.health()
	}
	if c, done := r.prelude(); done {
		return c
	}
	for _, t := range types {
		c := r.find(t)
		switch {
		case c == nil:
			return progressing("ConditionMissing", r.kind+" does not report "+t+" yet")
		case c.Status != metav1.ConditionTrue:
			return progressing(cmp.Or(c.Reason, t), c.Message)
		}
	}
	last := r.find(types[len(types)-1])
	return ready(cmp.Or(last.Reason, "Ready"), last.Message)
}

// health reads the common conditions, by the API conventions and kstatus: Stalled and Reconciling, which exist only while they are True,
// Failed and Degraded of the same polarity, then Ready, else Available. An object without any of these is ready.
func (r *report) health() health.Component {
	if c, done := r.prelude(); done {
		return c
	}
	if c, known := r.ofKind(); known {
		return c
	}
	for _, bad := range []struct {
		conditionType string
		state         health.State
	}{{"Stalled", health.Failed}, {"Failed", health.Failed}, {"Degraded", health.Degraded}, {"Reconciling", health.Progressing}} {
		if c := r.find(bad.conditionType); c != nil && c.Status == metav1.ConditionTrue {
			return health.Component{State: bad.state, Reason: cmp.Or(c.Reason, bad.conditionType), Message: c.Message}
		}
	}
	for _, good := range []struct {
		conditionType string
		otherwise     health.State
	}{{"Ready", health.Progressing}, {"Available", health.NotAvailable}} {
		c := r.find(good.conditionType)
		switch {
		case c == nil:
			continue
		case c.Status == metav1.ConditionTrue:
			return ready(cmp.Or(c.Reason, good.conditionType), c.Message)
		case c.Status == metav1.ConditionFalse:
			return health.Component{State: good.otherwise, Reason: cmp.Or(c.Reason, "Not"+good.conditionType), Message: c.Message}
		}
		return progressing(cmp.Or(c.Reason, "Not"+good.conditionType), c.Message)
	}
	if r.stale() {
		return unobserved(r.kind)
	}
	return ready("Exists", r.kind+" exists")
}

func (r *report) prelude() (health.Component, bool) {
	switch {
	case r.deleted:
		return terminating(r.kind), true
	case r.reportsGeneration && r.observed < r.generation:
		return unobserved(r.kind), true
	}
	return health.Component{}, false
}

// find returns the condition unless it is of an older generation. A condition without a generation is current.
func (r *report) find(conditionType string) *metav1.Condition {
	for i := range r.conditions {
		if c := &r.conditions[i]; c.Type == conditionType && !r.outdated(c) {
			return c
		}
	}
	return nil
}

func (r *report) outdated(c *metav1.Condition) bool {
	return c.ObservedGeneration != 0 && c.ObservedGeneration < r.generation
}

// stale reports whether one of the relevant conditions is of an older generation.
func (r *report) stale() bool {
	for i := range r.conditions {
		switch c := &r.conditions[i]; c.Type {
		case "Ready", "Available":
			if r.outdated(c) {
				return true
			}
		}
	}
	return false
}
