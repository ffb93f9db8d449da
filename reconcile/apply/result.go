package apply

import (
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/applyset"
)

// Outcome is what happened to one object, in camel case as in logs and metrics.
type Outcome string

// The outcomes.
const (
	// OutcomeUnchanged: the object is as planned; nothing was sent.
	OutcomeUnchanged Outcome = "Unchanged"
	// OutcomeCreated: the object did not exist and was created.
	OutcomeCreated Outcome = "Created"
	// OutcomeUpdated: the object existed and was changed.
	OutcomeUpdated Outcome = "Updated"
	// OutcomeDeleted: the object was deleted because the plan deletes or recreates it.
	OutcomeDeleted Outcome = "Deleted"
	// OutcomePruned: the object had left the plan, and its deletion was accepted.
	OutcomePruned Outcome = "Pruned"
	// OutcomeReleased: a contribution to the object was given up.
	OutcomeReleased Outcome = "Released"
	// OutcomeOptedOut: the object has [Options.OptOutAnnotation]; nothing was sent.
	OutcomeOptedOut Outcome = "OptedOut"
	// OutcomeContested: other field managers own planned fields.
	OutcomeContested Outcome = "Contested"
	// OutcomeBlocked: nothing was sent, because a dependency failed.
	OutcomeBlocked Outcome = "Blocked"
	// OutcomeWaiting: the object waits for the condition of [WaitUntil] or the objects of [After]; nothing was sent.
	OutcomeWaiting Outcome = "Waiting"
	// OutcomeFailed: the request failed.
	OutcomeFailed Outcome = "Failed"
)

// ObjectResult is the outcome for one object.
type ObjectResult struct {
	// Decision is the decision of the pass. UID and ResourceVersion identify the object after the pass, empty if unknown. Err is the error
	// behind the outcomes Contested, Blocked and Failed, from the decision or from its execution.
	Decision
	// Outcome is what happened.
	Outcome Outcome
	// ResourceVersion is the version after the pass, see Decision.
	ResourceVersion string
	// Answer is the observed state of a resource outside the cluster, as JSON; nil for objects. The package reconcile/external reads it.
	Answer json.RawMessage
	// Unobserved reports that the child was changed and its status describes an earlier generation, because its controller has not
	// processed the change yet. It is false for kinds without status.observedGeneration, except when the child was deleted to be
	// recreated, see [Recreate].
	Unobserved bool
	// Overridden are the first three planned fields that have another value in the answer to the engine's own apply. A mutating webhook or
	// policy, or the API server, has changed them. From is the stored value, To the planned one.
	Overridden []FieldChange
	// HoldsData reports that the object is of one of [Options.GuardedKinds], so that its deletion should be reported as an event.
	HoldsData bool
	// Announcement is the event from the plan, see [Announce].
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
	// Objects has one entry for each deletion, child and pruned object, and one for the owner if the plan has metadata for it. The order
	// is: deletions, the owner, the children as planned, prunes.
	Objects []ObjectResult
	// Owner is the first write of the owner's metadata in the pass, nil if there was none.
	Owner *Decision
	// OwnerErr is the error of an invalid plan or of the write of the owner's metadata. If set, no child was written.
	OwnerErr error
	// PruneBlocked reports why children that left the plan were kept. It is not part of Err.
	PruneBlocked *PruneBlockedError
	// NotInstalled are the kinds of planned children that were left out, because they are optional and their CRD is not installed.
	NotInstalled []schema.GroupVersionKind
	// Finalized reports that an owner that is being deleted no longer has the engine's finalizer.
	Finalized bool
	// RequeueAfter requests another pass after this time, for example to confirm a deletion. Zero requests none.
	RequeueAfter time.Duration
}

// Err joins the errors of the owner and of all objects. Each error names its object.
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

// ObjectError is the error of one object, an element of [Result.Err].
type ObjectError struct {
	// ObjectResult identifies the object; its Err is not nil.
	ObjectResult
}

// Error returns the name of the object and the error.
func (e *ObjectError) Error() string {
	switch e.Err.(type) { //nolint:errorlint // these name the object themselves
	case *OwnedByAnotherError, *ContestedError:
		return e.Err.Error()
	}
	return fmt.Sprintf("%s: %s", applyset.ObjectName(e.GVK.Kind, e.Key.Namespace, e.Key.Name), e.Err)
}

// Unwrap returns the error without the name.
func (e *ObjectError) Unwrap() error { return e.Err }
