package since

import (
	"strconv"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/reconcilekit/reconcilekit/reconcile/apply"
)

// Fact is something that may hold, such as that nobody uses a server.
type Fact struct {
	// Annotation is where the time is kept. Required; each fact of an object has one of its own.
	Annotation string
	// For is how long the fact has to hold until it is due. Zero and less is at once.
	For time.Duration
}

// State is how a fact is in one pass.
type State struct {
	// Since is since when the fact holds, in seconds, as it is kept; the zero time when it does not.
	Since time.Time
	// Due reports whether the fact has held long enough.
	Due bool
	// At is when it will have, for the plan's RequeueAt; the zero time when it is due or does not hold.
	At time.Time

	annotation string
	garbled    bool // what is stored is no time that can be meant
}

// Of returns the state of the fact. Stored is the object with the annotation as it was read, nil, or a nil pointer in the interface,
// where it does not exist. Without a time, or with one that cannot be read or lies in the future, the fact holds since now. It does not
// hold for longer than the object exists, so that the time in a copy or a restored object does not count.
func (f Fact) Of(stored metav1.Object, holds bool, now time.Time) State {
	state := State{annotation: f.Annotation}
	if !holds {
		return state
	}
	state.Since = now.UTC().Truncate(time.Second)
	if text := annotation(stored, f.Annotation); text != "" {
		known, err := time.Parse(time.RFC3339, text)
		if state.garbled = err != nil || known.After(now); !state.garbled {
			state.Since = known.UTC()
		}
		// A copy of an object, or one restored from a backup, carries the time of the original.
		if created := stored.GetCreationTimestamp(); !state.garbled && state.Since.Before(created.Time) {
			state.Since = earlier(created.UTC(), now.UTC().Truncate(time.Second))
		}
	}
	due := state.Since.Add(f.For)
	if state.Due = !due.After(now); !state.Due {
		state.At = due
	}
	return state
}

// earlier returns the earlier time: the clock of the API server may be ahead of this one.
func earlier(a, b time.Time) time.Time {
	if a.Before(b) {
		return a
	}
	return b
}

// annotation reads an annotation; an object that is not there has none.
func annotation(stored metav1.Object, name string) string {
	if isNil(stored) {
		return ""
	}
	return stored.GetAnnotations()[name]
}

// Mark sets the annotation of a planned object, or takes it out when the fact does not hold.
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

// Rules keep the time that the object has, or take it from whoever wrote one that cannot be meant. They are an option of the planned
// object.
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
