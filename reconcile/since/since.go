package since

import (
	"strconv"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/reconcilekit/reconcilekit/reconcile/apply"
)

// Fact is a fact that may be true, such as that a server is idle.
type Fact struct {
	// Annotation is the annotation with the time. Required; each fact of an object needs its own.
	Annotation string
	// For is how long the fact must be true until it is due. Zero and less is immediately.
	For time.Duration
}

// State is the state of a fact in one reconciliation.
type State struct {
	// Since is the time since which the fact is true, in seconds; the zero time if it is false.
	Since time.Time
	// Due reports whether the fact has been true long enough.
	Due bool
	// At is the time at which the fact will be due, for the plan's RequeueAt; the zero time if it is due or false.
	At time.Time

	annotation string
	garbled    bool // the stored value is not a valid time
}

// Always returns the time that stands for "before the object existed". Pass it to [Fact.Of] instead of the present time, with a nil object,
// for a fact that holds for a new object without a wait.
func Always() time.Time { return time.Unix(0, 0).UTC() }

// Of returns the state of the fact. stored is the object with the annotation as read, nil or a nil pointer if it does not exist. Without
// a stored time, or with one that is malformed or in the future, the fact is true since now. It is never true for longer than the object
// exists, so that the time in a copy or a restored object does not count.
func (f Fact) Of(stored metav1.Object, isTrue bool, now time.Time) State {
	state := State{annotation: f.Annotation}
	if !isTrue {
		return state
	}
	state.Since = now.UTC().Truncate(time.Second)
	if text := annotation(stored, f.Annotation); text != "" {
		known, err := time.Parse(time.RFC3339, text)
		if state.garbled = err != nil || known.After(now); !state.garbled {
			state.Since = known.UTC()
		}
		// A copy of an object, or one restored from a backup, has the time of the original.
		if created := stored.GetCreationTimestamp(); !state.garbled && !state.Since.Equal(Always()) && state.Since.Before(created.Time) {
			state.Since = earlier(created.UTC(), now.UTC().Truncate(time.Second))
		}
	}
	due := state.Since.Add(f.For)
	if state.Due = !due.After(now); !state.Due {
		state.At = due
	}
	return state
}

// earlier returns the earlier time, because the clock of the API server may be ahead of this one.
func earlier(a, b time.Time) time.Time {
	if a.Before(b) {
		return a
	}
	return b
}

// annotation returns the value of an annotation; empty if the object does not exist.
func annotation(stored metav1.Object, name string) string {
	if isNil(stored) {
		return ""
	}
	return stored.GetAnnotations()[name]
}

// Mark sets the annotation of a planned object, or removes it if the fact is false.
func (s State) Mark(planned metav1.Object) {
	before := planned.GetAnnotations()
	annotations := make(map[string]string, len(before)+1)
	for name, value := range before {
		if name != s.annotation {
			annotations[name] = value
		}
	}
	if !s.Since.IsZero() {
		annotations[s.annotation] = s.Since.Format(time.RFC3339)
	}
	if len(annotations) == 0 {
		annotations = nil
	}
	planned.SetAnnotations(annotations)
}

// Rules returns field rules that keep the stored time, or replace an invalid one. Pass them as an option of the planned object.
func (s State) Rules() apply.FieldRules {
	path := "metadata.annotations[" + strconv.Quote(s.annotation) + "]"
	switch {
	case s.Since.IsZero():
		return nil
	case s.garbled:
		return apply.Force(path)
	}
	return apply.CreateOnly(path)
}
