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

// Reader is the reader of FetchRemoteState. In a running controller it is the tracked reader: a read of an undeclared kind
// fails, and every read enqueues the owner when the object appears, changes or is deleted.
type Reader = client.Reader

// Owner is the reconciled object, of any Go type: the operator's own, one of Kubernetes or of another project, or
// unstructured. Its conditions are in Status.Conditions, a slice of metav1.Condition; for conditions of another type the
// reconciler implements [ConditionAdapter]. An owner without either stores no conditions; events and logs still report
// their transitions. See the Kubernetes API conventions, "Typical status properties".
type Owner interface {
	client.Object
}

// ConditionAdapter is implemented by reconcilers whose owner's conditions are not a slice of metav1.Condition, or are
// shared with other controllers so that the reconciler stores only some of them.
type ConditionAdapter[T Owner] interface {
	// GetConditions returns the conditions of the owner's status, nil when there are none yet.
	GetConditions(owner T) []metav1.Condition
	// SetConditions stores conditions in the owner's status. It may ignore types that the status does not have.
	SetConditions(owner T, conditions []metav1.Condition)
}

// ObservedGenerationSetter is implemented by owners whose status has an observedGeneration. The engine then sets it.
type ObservedGenerationSetter interface {
	// SetObservedGeneration stores the metadata.generation to which the status belongs.
	SetObservedGeneration(generation int64)
}

// StateSetter is implemented by owners whose status has one aggregated state, such as a phase. The owner maps the states of
// package health to its own values.
type StateSetter interface {
	// SetState stores the worst state of the components.
	SetState(state health.State)
}

// Reconciler is the domain logic of a controller: T is the reconciled type, F the fetched state, O the observation from
// which the plan is built. Every controller has these two phases. When F and O differ, the reconciler is also a [Composer].
// The set-up of the controller finds the other phases by their interfaces: [Observation], [StatusDecorator],
// [DeletionDecorator], [Finalizer], [ApplyObserver], [Migrator] and [ConditionAdapter]. It returns an error for a method
// that has the name of a phase, or nearly, but does not implement it.
//
// Only FetchRemoteState reads. The other phases are pure functions of their arguments and can be tested without a cluster.
// The phases run concurrently for several owners, so the fields of a reconciler, such as a client, must be safe for
// concurrent use. To assert at compile time that a type implements the phases:
//
//	var _ reconcile.Reconciler[*v1.Website, observed, observed] = reconciler{}
type Reconciler[T Owner, F, O any] interface {
	// FetchRemoteState reads the objects on which the plan depends. It returns errors inside [FetchResult], so that the
	// later phases always run and the status reports all errors at once.
	FetchRemoteState(ctx context.Context, r Reader, rc ReconcileContext[T]) F
	// PlanResources returns the complete desired state: an object that was applied earlier and is missing here is pruned.
	// It must not read, write, use a clock or random numbers, or depend on map order.
	//
	// On an error nothing is applied or pruned, and only RequeueAfter and RequeueAt of the plan are used. The conditions,
	// events and logs report the error by its category ([health.Categorize]), unless a component reports it. An error
	// without a category is retried with backoff.
	PlanResources(ctx context.Context, rc ReconcileContext[T], observation O) (PlanResult, error)
}

// Composer is implemented by reconcilers whose observation has another type than the fetched state.
type Composer[T Owner, F, O any] interface {
	// ComposeState derives the observation from the fetched state. It neither reads nor writes.
	ComposeState(ctx context.Context, rc ReconcileContext[T], fetched F) O
}

// Observation is implemented by observations that report the health of the owner's components. Without it the engine
// inspects the applied children and reports them by kind, such as with the condition DeploymentReady; see controller.New. To
// report components next to the children, set InspectChildren of controller.Options.
type Observation interface {
	// GetComponentHealth returns one Component for each part that the owner consists of or depends on. It must not read. It
	// is called before the apply, so it reports children as FetchRemoteState has read them; a change of them triggers the
	// next reconciliation.
	// With an empty list the owner is Ready unless a phase, a read or a write fails.
	GetComponentHealth(ctx context.Context) []health.Component
}

// Finalizer is implemented by reconcilers that must act before their owner is deleted. Without it garbage collection
// deletes the children with an owner reference, and the engine deletes the other children of the inventory. An owner has
// the engine's finalizer if its reconciler implements Finalizer, or if it has something that garbage collection does not
// delete: a child without an owner reference, a contribution or an external resource.
type Finalizer[T Owner, F any] interface {
	// Finalize returns the plan to apply before the owner's finalizer is removed. The engine removes the finalizer after it
	// applied the plan without an error and the plan's Hold is false. On an error nothing is applied and the finalizer
	// stays.
	Finalize(ctx context.Context, rc ReconcileContext[T], fetched F) (PlanResult, error)
}

// ApplyObserver is implemented by reconcilers whose status reports the result of the apply: which objects were written,
// pruned or awaited, and which the API server rejected, with its messages.
type ApplyObserver[T Owner, O any] interface {
	// ObserveApply is called after the apply and before DecorateStatus, which receives the returned observation. It is a
	// pure function of its arguments. GetComponentHealth was called before. ObserveApply is not called for an owner that is
	// being deleted.
	ObserveApply(ctx context.Context, rc ReconcileContext[T], observation O, outcome ApplyOutcome) O
}

// ApplyOutcome is the result of applying a plan.
type ApplyOutcome struct {
	// Result has the result of each object; the Err of a rejected object has the message of the API server. It is empty
	// when the apply was blocked.
	apply.Result
	// Blocked is the reason why nothing was applied, such as a failed read or a component that blocks. Nil when the plan
	// was applied.
	Blocked error
}

// ReconcileContext describes the current reconciliation. Every phase receives it.
type ReconcileContext[T Owner] struct {
	// Object is a copy of the owner without the labels and annotations that the engine sets on it ([apply.IsEngineKey]), so
	// that a phase may copy its metadata to children. Changes to it have no effect on the cluster.
	Object T
	// Request names the owner.
	Request ctrl.Request
	// Now is the time of the reconciliation. Phases use it instead of a clock, so that tests can set it.
	Now time.Time
	// Log has the names of the controller and the owner.
	Log logr.Logger
}

// PlanResult is the complete desired state of an owner. The zero value plans nothing. An object that was applied earlier
// and is missing in the plan is pruned. The engine orders the kinds, such as a Namespace before a Deployment, and keeps the order of the
// objects within a kind. Its methods, such as Apply and Delete, add objects; see [apply.Plan].
type PlanResult = apply.Plan

// StatusContext is an argument of DecorateStatus.
type StatusContext[T Owner] struct {
	ReconcileContext[T]
	// Blocked is the reason why nothing was applied, such as an error of planning or a component that blocks. Nil when the
	// plan was applied.
	Blocked error
}

// StatusDecorator is implemented by reconcilers that set their own fields of the status. S is the type of the owner's field
// Status. Conditions that it sets with the manager count for the summary when their type ends in "Ready". The engine
// overwrites conditions, observedGeneration and state in status.
type StatusDecorator[S any, T Owner, O any] interface {
	// DecorateStatus is called once in each reconciliation, after the components' conditions are set and before the summary
	// is. A condition Ready that it sets is kept, unless a phase or a write failed with an error that no component reports.
	//
	// It is not called for an owner that is being deleted, nor after a failed read or a panic. The observation is
	// incomplete then, and the fields and conditions of the last call stay unchanged. NotFound is not a failure, and
	// neither is an error with the category InvalidSpec, with which a system outside the cluster rejects the owner's spec.
	// The engine's own conditions always report failures.
	DecorateStatus(status *S, cm *conditions.Manager, sc StatusContext[T], observation O)
}

// DeletionDecorator is implemented by reconcilers that report the deletion in the status. S is the type of the owner's
// field Status.
type DeletionDecorator[S any, T Owner] interface {
	// DecorateDeletion is called instead of DecorateStatus while an owner that is being deleted still exists. To delay the
	// deletion until the status reports it, implement [Finalizer] and request another reconciliation. The owner is a copy.
	DecorateDeletion(status *S, cm *conditions.Manager, owner T)
}

// Migrator is implemented by reconcilers of a type whose objects may be stored in an older form, such as with a field that
// was renamed within a version. The reconciliation only rewrites such an object; the next one reads the new form.
//
// Use it to move fields that the user has set. Compute defaults in memory instead: a value that a controller writes into a
// spec cannot be distinguished from one of the user.
type Migrator[T Owner] interface {
	// Migrate changes the owner, a copy, to the current form. It is a pure function and does not change an object that
	// already has the current form.
	Migrate(owner T)
}
