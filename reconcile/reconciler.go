package reconcile

import (
	"context"
	"time"

	"github.com/go-logr/logr"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	ctrl "sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/reconcilekit/reconcilekit/conditions"
	"github.com/reconcilekit/reconcilekit/health"
	"github.com/reconcilekit/reconcilekit/reconcile/apply"
)

// Reader is what FetchRemoteState reads with. In a running controller it is the tracked reader: a read of a kind that
// the controller did not declare fails, and every read wakes the owner when its object appears, changes or goes.
type Reader = client.Reader

// Owner is the reconciled object, of any Go type: a type of one's own, one of Kubernetes or of another project, or unstructured. Its
// conditions are those in Status.Conditions, a slice of metav1.Condition; where it has them in another shape the reconciler is a
// [ConditionAdapter]. An owner without either keeps no conditions: events and logs tell of their transitions all the same.
// See the Kubernetes API conventions, "Typical status properties".
type Owner interface {
	client.Object
}

// ConditionAdapter is implemented by reconcilers whose owner has conditions of another shape than a slice of metav1.Condition,
// or shares them with others and keeps only some.
type ConditionAdapter[T Owner] interface {
	// GetConditions returns the conditions of the owner's status, nil when there are none yet.
	GetConditions(owner T) []metav1.Condition
	// SetConditions stores conditions in the owner's status: those that it has a place for.
	SetConditions(owner T, conditions []metav1.Condition)
}

// ObservedGenerationSetter is implemented by owners whose status has an observedGeneration; the engine then keeps it.
type ObservedGenerationSetter interface {
	// SetObservedGeneration stores the metadata.generation that the status speaks of.
	SetObservedGeneration(generation int64)
}

// StateSetter is implemented by owners whose status has a word for the state of the whole, such as a phase. The owner
// maps the SDK's states to its own words.
type StateSetter interface {
	// SetState stores the worst state of the components.
	SetState(state health.State)
}

// Reconciler is the domain logic of a controller: T is the reconciled type, F what it fetches, O what the plan is made from.
// These two phases are what every controller has. Where F and O are one type nothing is composed; where they differ the
// reconciler is a [Composer] as well. The other phases are found by their interfaces when the controller is set up:
// [Observation], [StatusDecorator], [DeletionDecorator], [Finalizer], [ApplyObserver], [Migrator] and [ConditionAdapter]. A method that has the
// name of a phase, or nearly, and is none is an error then.
//
// Only FetchRemoteState reads; the others are pure functions of their arguments, which makes them testable without a cluster.
// The phases run for several owners at a time: what a reconciler keeps in itself, such as a client or a memory, must be safe for that.
// One line asserts at compile time that a type has the phases:
//
//	var _ reconcile.Reconciler[*v1.Website, observed, observed] = reconciler{}
type Reconciler[T Owner, F, O any] interface {
	// FetchRemoteState reads whatever the plan depends on. It returns no error: errors travel inside [FetchResult], so
	// that the later phases always run and the status can say everything that is wrong at once.
	FetchRemoteState(ctx context.Context, r Reader, rc ReconcileContext[T]) F
	// PlanResources returns the complete desired set: what was applied in an earlier pass and is missing here is
	// pruned. It does not read, write, look at a clock, draw random numbers or depend on map order.
	//
	// With an error nothing is applied or pruned, and of the plan only RequeueAfter and RequeueAt count. The error shows in
	// the conditions, events and logs by its category ([health.Categorize]), unless a component reports it; one without a
	// category is tried again with a backoff.
	PlanResources(ctx context.Context, rc ReconcileContext[T], observation O) (PlanResult, error)
}

// Composer is implemented by reconcilers that derive an observation of another type than what they fetch.
type Composer[T Owner, F, O any] interface {
	// ComposeState derives meaning from what was fetched. It neither reads nor writes.
	ComposeState(ctx context.Context, rc ReconcileContext[T], fetched F) O
}

// Observation is implemented by observations that report how the parts of the owner are. Without it the engine inspects the applied
// children and reports them by their kinds, such as with the condition DeploymentReady; see controller.New.
type Observation interface {
	// GetComponentHealth returns one Component for each part that the owner depends on or consists of. It reads
	// nothing: all it needs was fetched. An empty list means that nothing can be wrong, and the owner is Ready unless a phase, a read or
	// a write fails.
	GetComponentHealth(ctx context.Context) []health.Component
}

// Finalizer is implemented by reconcilers with work of their own at deletion. Children with an owner reference are left
// to garbage collection and other children of the inventory are deleted by the engine without it.
type Finalizer[T Owner, F any] interface {
	// Finalize returns what is to be applied or deleted before the owner may go. The owner's finalizer is removed when
	// the plan is carried out without an error and its Hold is false. An error is as one of PlanResources: nothing is
	// carried out, and the finalizer stays.
	Finalize(ctx context.Context, rc ReconcileContext[T], fetched F) (PlanResult, error)
}

// ApplyObserver is implemented by reconcilers whose status says what became of the plan: which object was written, which one
// the API server refused and with which words, what is pruned or waited for.
type ApplyObserver[T Owner, O any] interface {
	// ObserveApply is called after the apply and before DecorateStatus, which gets the observation that it returns. It is a
	// pure function of its arguments, like the phases before it. The health of the components was asked for before; it is not
	// called for an owner that is being deleted.
	ObserveApply(ctx context.Context, rc ReconcileContext[T], observation O, outcome ApplyOutcome) O
}

// ApplyOutcome is what became of a plan.
type ApplyOutcome struct {
	// Result has the outcome of each object; the Err of one that was refused has the answer of the API server. It is empty
	// when the apply was blocked.
	apply.Result
	// Blocked is why nothing was applied: a read that failed, or a component that blocks. Nil when the plan was carried out.
	Blocked error
}

// ReconcileContext is what every phase knows about the pass.
type ReconcileContext[T Owner] struct {
	// Object is the owner, a copy without the labels and annotations that the engine keeps on it ([apply.IsEngineKey]), so that a phase
	// may copy its metadata to children. Changing it has no effect on the cluster.
	Object T
	// Request names the owner.
	Request ctrl.Request
	// Now is the time of the pass; phases use it instead of the clock, so that tests can set it.
	Now time.Time
	// Log carries the controller and the owner.
	Log logr.Logger
}

// PlanResult is the complete desired set of an owner. The zero value plans nothing; what earlier passes applied and the
// plan does not name any more is pruned. Objects need not be in any order: the engine orders them by kind. It is the plan
// that the engine carries out and a diff prints.
type PlanResult = apply.Plan

// StatusContext is what DecorateStatus gets in addition to the observation.
type StatusContext[T Owner] struct {
	ReconcileContext[T]
	// Blocked is why nothing was applied, such as an error of planning or a component that blocks. Nil when the plan was carried out.
	Blocked error
}

// StatusDecorator is implemented by reconcilers that set the fields of the status that belong to the domain. S is the type of
// the owner's field Status. Conditions set on the manager count for the summary when their type ends in "Ready".
// Conditions, observedGeneration and state are the engine's: what the decorator writes there is replaced.
type StatusDecorator[S any, T Owner, O any] interface {
	// DecorateStatus is called once in each reconciliation, after the components' conditions are known and before the summary. A summary
	// Ready that it sets itself stands, with the product's own words, unless a phase or a write failed with an error that no
	// component reports.
	//
	// It is not called for an owner that is being deleted, nor when a read failed or a phase panicked: then the observation is
	// incomplete, and the fields and conditions that it set in an earlier reconciliation stay as they are. NotFound is no
	// failure, and neither is an error with the category InvalidSpec, which a system outside the cluster answers about the
	// owner's spec. The engine's own conditions always report what failed.
	DecorateStatus(status *S, cm *conditions.Manager, sc StatusContext[T], observation O)
}

// DeletionDecorator is implemented by reconcilers whose status speaks of the deletion. S is the type of the owner's field
// Status.
type DeletionDecorator[S any, T Owner] interface {
	// DecorateDeletion is called in the passes of an owner that is being deleted, in place of DecorateStatus, as long as
	// something keeps the owner. An owner that must not go before its status says so implements [Finalizer] and asks for
	// another pass until it does. The owner is a copy.
	DecorateDeletion(status *S, cm *conditions.Manager, owner T)
}

// Migrator is implemented by reconcilers of a type whose objects may be stored in an older form, such as a field that was
// renamed within a version. The pass rewrites such an object and does nothing else; the next pass sees the new form.
//
// It is for moving what the user has written. A default belongs into the effective spec, computed in memory: what a
// controller writes into a spec cannot be told from what a user wrote.
type Migrator[T Owner] interface {
	// Migrate changes the owner, a copy, to the current form. It is a pure function, and changes nothing in an object that
	// is in the current form already.
	Migrate(owner T)
}
