package apply

import (
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/applyset"
)

// Outcome says what happened to one object, in camel case as in logs and
// metrics.
type Outcome string

// The outcomes.
const (
	// OutcomeUnchanged: the object is as planned; nothing was sent.
	OutcomeUnchanged Outcome = "Unchanged"
	// OutcomeCreated: the object did not exist and was created.
	OutcomeCreated Outcome = "Created"
	// OutcomeUpdated: the object existed and was changed.
	OutcomeUpdated Outcome = "Updated"
	// OutcomeDeleted: it was deleted because the plan asks for its deletion or
	// recreation.
	OutcomeDeleted Outcome = "Deleted"
	// OutcomePruned: it was no longer planned and its deletion was accepted.
	OutcomePruned Outcome = "Pruned"
	// OutcomeReleased: a contribution to it was given up.
	OutcomeReleased Outcome = "Released"
	// OutcomeOptedOut: it has [Options.OptOutAnnotation]; nothing was sent.
	OutcomeOptedOut Outcome = "OptedOut"
	// OutcomeContested: other field managers own planned fields.
	OutcomeContested Outcome = "Contested"
	// OutcomeBlocked: not tried, because something that it needs failed.
	OutcomeBlocked Outcome = "Blocked"
	// OutcomeWaiting: it waits for the condition of [WaitUntil]; nothing was
	// sent.
	OutcomeWaiting Outcome = "Waiting"
	// OutcomeFailed: the request failed.
	OutcomeFailed Outcome = "Failed"
)

// ObjectResult is the outcome for one object.
type ObjectResult struct {
	// Decision is what the pass decided to do. Its UID, with ResourceVersion,
	// identifies what is known to exist after the pass, empty if nothing is
	// known; its Err is the error behind Contested, Blocked and Failed,
	// whether it was met while deciding or while carrying out.
	Decision
	// Outcome is what happened.
	Outcome Outcome
	// ResourceVersion is the version after the pass, see Decision.
	ResourceVersion string
	// Answer is what an object outside of the cluster is after it was ensured,
	// as JSON; nil for everything else. The package reconcile/external reads it.
	Answer json.RawMessage
	// Unobserved reports that the child was changed and that its status is about
	// an earlier generation: its own controller has not looked at the change yet.
	// It is false for kinds without status.observedGeneration, save when the
	// child was deleted to be created anew, see [Recreate].
	Unobserved bool
	// Overridden are planned fields that have another value in the answer to
	// the engine's own apply, the first three: a mutating webhook or policy, or
	// the API server itself, has changed them on their way to the store. From is
	// the stored value, To the planned one.
	Overridden []FieldChange
	// HoldsData reports that the object is of one of [Options.GuardedKinds]: that
	// it was pruned or deleted is worth an event.
	HoldsData bool
	// Announcement is that of the plan, see [Announce].
	Announcement Announcement
}

// Wrote reports whether the pass changed the object.
func (r ObjectResult) Wrote() bool {
	switch r.Outcome {
	case OutcomeCreated, OutcomeUpdated, OutcomeDeleted, OutcomePruned, OutcomeReleased:
		return true
	default:
		return false
	}
}

// Created reports whether the object did not exist and the pass created it.
func (r ObjectResult) Created() bool { return r.Outcome == OutcomeCreated }

// Result is the outcome of one [engine.Engine.Apply].
type Result struct {
	// Objects has one entry for each delete, child, and pruned object, and one
	// for the owner if something is planned of it: first the deletes, then the
	// owner, then the children as planned, then the prunes.
	Objects []ObjectResult
	// Owner is the write of the owner's metadata that the pass began with,
	// nil if there was none.
	Owner *Decision
	// OwnerErr is the error of the write of the owner's metadata, or of a
	// plan that is invalid. No child was written then.
	OwnerErr error
	// PruneBlocked reports that children that are no longer planned were kept,
	// and why. It is not part of Err.
	PruneBlocked *PruneBlockedError
	// Finalized reports that the owner's finalizer was removed, or was not
	// there, of an owner that is being deleted: it may go.
	Finalized bool
	// RequeueAfter asks for another pass, for example to confirm a
	// deletion. Zero asks for none.
	RequeueAfter time.Duration
}

// Err joins the errors of the owner and of all objects; each names its object.
func (r Result) Err() error {
	var errs []error
	if r.OwnerErr != nil {
		errs = append(errs, r.OwnerErr)
	}
	for i := range r.Objects {
		if err := r.Objects[i].Err; err != nil {
			errs = append(errs, &ObjectError{ObjectResult: r.Objects[i]})
		}
	}
	return errors.Join(errs...)
}

// ObjectError is the error of one object, as joined by [Result.Err].
type ObjectError struct {
	// ObjectResult names the object; its Err is not nil.
	ObjectResult
}

// Error returns the name of the object and what went wrong.
func (e *ObjectError) Error() string {
	switch e.Err.(type) { //nolint:errorlint // these name the object themselves
	case *OwnedByAnotherError, *ContestedError:
		return e.Err.Error()
	}
	return fmt.Sprintf("%s: %s", applyset.ObjectName(e.GVK.Kind, e.Key.Namespace, e.Key.Name), e.Err)
}

// Unwrap returns the error without the name.
func (e *ObjectError) Unwrap() error { return e.Err }
