package apply

import (
	"errors"
	"reflect"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Plan is the desired state of one owner's children. It must be complete: a child that was applied before and is missing here is pruned.
// The zero value has no children. reconcile.PlanResult is an alias of this type.
type Plan struct {
	// Children are the objects to apply. The engine keeps their order within a kind and orders the kinds itself, see
	// [engine.Engine.Apply].
	Children []Child
	// Owner is the planned metadata of the owner, nil for none. Set it with [Plan.Metadata].
	Owner *Child
	// Deletes are the objects that must not exist.
	Deletes []Deletion
	// Policy is how a pass uses the plan. Default [Manage].
	Policy Policy
	// Hold keeps the finalizer on the owner although no child needs it, for owners with resources outside the cluster. An owner that is
	// being deleted keeps its finalizer until Hold is false. It does not affect the children. Default false.
	Hold bool
	// RequeueAfter requests another pass after at most this time, counted from the end of the pass. A negative time requests it at once,
	// zero requests none.
	RequeueAfter time.Duration
	// RequeueAt requests another pass at this time at the latest. A time in the past requests it at once, the zero time requests none.
	RequeueAt time.Time
	// Inputs identifies the inputs of the plan other than the owner's spec, for example by a hash of the objects that were read. While
	// neither Inputs nor the owner's generation differs from the last successful apply, large prunes are blocked. The empty string is an
	// ordinary value.
	Inputs string
	// PruneBlocked is the reason why the plan may be incomplete, nil if it is complete. If set, nothing is pruned, and the result reports
	// this error as the cause. Set it with [Plan.Incomplete].
	PruneBlocked error
	// KeptKinds are kinds whose unplanned children are kept, see [Plan.KeepKind].
	KeptKinds []schema.GroupVersionKind
	// Unknown are kinds whose desired children are unknown, with the reason, for example that the API server does not serve the planned
	// version. Existing children of these kinds are kept, and the result names them. Ignored for an owner that is being deleted.
	Unknown map[schema.GroupKind]error
}

// Policy is how a pass uses a [Plan].
//
//	Suspend        no child of the owner is touched
//	Plan.Keep      one child is not touched
//	Plan.KeepKind  no child of a kind is touched unless the plan names it
//	WaitUntil      one child or deletion waits for a condition
//	After          one child or deletion waits for others of the plan
//	Withdraw       the plan has few children on purpose: the rest is deleted
//	Plan.Hold      the owner keeps its finalizer
type Policy int

const (
	// Manage applies the children and prunes those that left the plan. Large prunes are guarded.
	Manage Policy = iota
	// Suspend leaves the children alone: nothing is applied, deleted or pruned, whatever else the plan contains. The finalizer is kept
	// while Hold is set, as for a reconciler with a Finalize phase, and removed otherwise. The inventory stays, so that a later plan
	// continues where the last one ended. Use it for an owner that is not managed at the moment, and when the desired state is unknown.
	// Ignored for an owner that is being deleted.
	Suspend
	// Withdraw is [Manage] without the guard against large prunes, for a plan that has few or no children on purpose. Use it for an owner
	// that an annotation has switched off.
	Withdraw
)

// Child is one object of a [Plan]. Exactly one of Object and Configuration is
// set.
type Child struct {
	// Object is a typed or unstructured object. The engine sends only the fields that are set, see the package documentation, and does not
	// modify it. The namespace defaults to that of the owner.
	Object client.Object
	// Configuration is a generated apply configuration, the alternative to Object. It requires apiVersion, kind and name.
	Configuration runtime.ApplyConfiguration
	// Mode is how the object relates to the owner. Default [Own].
	Mode Mode
	// Fields are rules for single fields. A field without a rule is owned.
	Fields []FieldRule
	// Adoption selects the existing objects that the engine may take over. Default none.
	Adoption Adoption
	// Existing restricts [Once] to a child that exists; a missing child is not created. An object of that name that another controller
	// owns is ignored. [Plan.Keep] sets it; set it by hand only for a child that is built as a value. Default false.
	Existing bool
	// History restricts [Once] to a child that is never pruned, see [History]. Default false.
	History bool
	// Recreate allows the engine to delete and recreate the object when the API server refuses a change because a field is immutable, see
	// [Recreate]. Default false.
	Recreate bool
	// RecreatePropagation is the deletion propagation of a recreation. See [Recreate] for the default.
	RecreatePropagation metav1.DeletionPropagation
	// WaitsUntil is the condition that the child waits for, see [WaitUntil]. Default none.
	WaitsUntil string
	// After are the objects of the plan that the child comes after, see [After]. Default none.
	After []client.Object
	// Announcement is the event for the write of the child, see [Announce]. Default none.
	Announcement Announcement
}

// Mode is how a child relates to its owner. It is a [ChildOption] of [Plan.Apply]: plan.Apply(object, apply.Retained).
//
//	               created  changed later     left out of a plan      owner is deleted        owners of one object
//	Own            yes      yes               deleted                 deleted                 one
//	Once           yes      no                deleted                 deleted                 one
//	History        yes      no                stays                   deleted                 one
//	Shared         yes      the owner's part  the part is taken back  the part is taken back  several, a part each
//	Retained       yes      yes               stays                   stays                   several, which plan it alike
//	Contribute     no       the given fields  they are given back     they are given back     several, and other controllers
//	Plan.Keep      no       no                deleted                 deleted                 one
//	Plan.KeepKind  no       no                deleted                 deleted                 one
//
// [History] is an option for one child. [Plan.Keep] keeps one child, and [Plan.KeepKind] all children of a kind. An object that several owners share is deleted with its last
// part.
type Mode uint8

const (
	// Own makes the owner the controller of the child. The child carries the part-of label and is pruned when it leaves the plan. A child
	// that is cluster-scoped or in another namespace than a namespaced owner gets no owner reference, because garbage collection would
	// delete it. The owner gets the finalizer instead.
	Own Mode = iota
	// Shared applies this owner's part of an object that several owners share. Each owner uses a field manager of its own. The object has
	// neither an owner reference nor the part-of label. The part is removed when it leaves the plan and when the owner is deleted; the
	// object is deleted with its last part. The owner gets the finalizer. The object has the annotation reconcilekit.dev/shared while any
	// owner has a part. See the table at [Mode].
	Shared
	// Once creates the child if it does not exist and never changes it. Otherwise it is like [Own]. See the table at [Mode].
	Once
	// Contribute owns a few fields of an object that another controller owns, under a field manager of this owner. The object is never
	// created. The fields are given back when the contribution leaves the plan and when the owner is deleted: the engine removes them, or
	// only its ownership of them where a removal is invalid. See the table at [Mode].
	Contribute
	// Retained applies an object that outlives its owners. It has neither an owner reference nor the part-of label, and is never pruned
	// nor deleted. All owners of the controller write it under one field manager, so that their plans for it must be equal. It has the
	// annotation reconcilekit.dev/shared. See the table at [Mode].
	Retained
)

// Deletion is one object that must not exist.
type Deletion struct {
	// Object identifies the object by kind, namespace and name. If it has a UID, only the object with that UID is deleted, even if this
	// owner did not create it. Without a UID, the object is deleted if it is a child of the owner, or if Labels or Uncontrolled allow it.
	// An object that another owner controls is not deleted, see [OwnedByAnotherError]; the exceptions are the owner itself and
	// ControlledByAnother.
	Object client.Object
	// MatchResourceVersion makes the resourceVersion of Object a precondition. Required if the decision depends on the status. Default
	// false.
	MatchResourceVersion bool
	// Labels are labels that the object must have. An object without them is kept; one with them is deleted even if this owner did not
	// create it. Empty requires none.
	Labels map[string]string
	// Propagation is the deletion propagation. Default [Options.Propagation].
	Propagation metav1.DeletionPropagation
	// Uncontrolled allows the deletion of an object that this owner did not create, unless another owner controls it. Default false.
	Uncontrolled bool
	// ControlledByAnother is the UID of the object, which is then deleted even if another owner controls it, see [ControlledByAnother].
	// Default nil.
	ControlledByAnother *types.UID
	// WaitsUntil is the condition that the deletion waits for, see [WaitUntil]. Default none.
	WaitsUntil string
	// After are the objects of the plan that the deletion comes after, see [After]. Default none.
	After []client.Object
	// Announcement is the event for the deletion, see [Announce]. Default none.
	Announcement Announcement
}

// Incomplete marks the plan as possibly incomplete because an input is unknown, for example after a failed read. Planned children are
// applied. Nothing is pruned, and the condition PruneBlocked reports err while it keeps a child. The errors of several calls are joined;
// nil is ignored.
func (p *Plan) Incomplete(err error) {
	switch {
	case err == nil:
	case p.PruneBlocked == nil:
		p.PruneBlocked = err
	default:
		p.PruneBlocked = errors.Join(p.PruneBlocked, err)
	}
}

// Apply plans obj as a child that the owner controls, or in another [Mode] if the options have one. Without a namespace it is in that of the
// owner; under a cluster-scoped owner that is an error of the plan.
//
// The children are applied in the order of their kinds, and within a kind in that of the plan: namespaces, definitions, service accounts and
// RBAC, configuration, storage, services, other kinds, workloads, autoscaling, routes, webhooks. [After] orders single children.
func (p *Plan) Apply(obj client.Object, opts ...ChildOption) {
	p.add(Child{Object: obj}, opts)
}

// ApplyConfiguration plans a generated apply configuration as a child that the
// owner controls.
func (p *Plan) ApplyConfiguration(ac runtime.ApplyConfiguration, opts ...ChildOption) {
	p.add(Child{Configuration: ac}, opts)
}

// Keep plans that an existing child stays unchanged: it is neither created nor changed nor pruned. Use it for objects that must survive
// the feature that created them, such as the volume of a database, and when the desired state of the child is unknown because an input is
// temporarily unavailable. The child is still deleted with its owner. It may be an object that was read. [Mode] has a table of the
// alternatives.
func (p *Plan) Keep(child client.Object) {
	p.add(Child{Object: nameOf(child), Mode: Once, Existing: true}, nil)
}

// nameOf returns an object with the identity of o and no content. Nil stays nil, so that the pass reports it.
func nameOf(o client.Object) client.Object {
	if v := reflect.ValueOf(o); !v.IsValid() || (v.Kind() == reflect.Pointer && v.IsNil()) {
		return o
	}
	if u, ok := o.(*unstructured.Unstructured); ok { // its content may have types that cannot be copied
		named := &unstructured.Unstructured{}
		named.SetGroupVersionKind(u.GroupVersionKind())
		named.SetNamespace(u.GetNamespace())
		named.SetName(u.GetName())
		return named
	}
	kept, ok := o.DeepCopyObject().(client.Object)
	if !ok {
		return o // a client.Object always copies into a client.Object
	}
	kept.SetManagedFields(nil)
	kept.SetResourceVersion("")
	kept.SetUID("")
	return kept
}

// RequeueIn returns the time from now until the requested pass, the earlier of RequeueAfter and RequeueAt. It returns false if the plan
// requests none, and one nanosecond for a time in the past.
func (p *Plan) RequeueIn(now time.Time) (time.Duration, bool) {
	in, asked := p.RequeueAfter, p.RequeueAfter != 0
	if !p.RequeueAt.IsZero() {
		if at := p.RequeueAt.Sub(now); !asked || at < in {
			in, asked = at, true
		}
	}
	if !asked {
		return 0, false
	}
	return max(in, time.Nanosecond), true
}

// Contribute plans the fields set in obj as fields of an object that another controller owns.
func (p *Plan) Contribute(obj client.Object, opts ...ChildOption) {
	p.add(Child{Object: obj, Mode: Contribute}, opts)
}

// Delete plans that obj does not exist. Without a UID, obj names a child of the owner; with a UID, it is exactly the object that was read.
// See [Deletion] for the options.
func (p *Plan) Delete(obj client.Object, opts ...DeletionOption) {
	d := Deletion{Object: obj}
	for _, o := range opts {
		o.ApplyToDeletion(&d)
	}
	p.Deletes = append(p.Deletes, d)
}

func (p *Plan) add(c Child, opts []ChildOption) {
	for _, o := range opts {
		o.ApplyToChild(&c)
	}
	if p.Children == nil {
		p.Children = make([]Child, 0, usualChildren)
	}
	p.Children = append(p.Children, c)
}

// usualChildren is the initial capacity of a plan.
const usualChildren = 8

// KeepKind plans that all unplanned children of the kind stay: none of them is pruned, and contributions to objects of the kind are not
// given back. Use it for children that an earlier plan applied and whose desired state the plan does not know. For children that are created
// once and never pruned, use [History]. The kind must be declared as owned. [Mode] has a table of the alternatives.
func (p *Plan) KeepKind(gvk schema.GroupVersionKind) { p.KeptKinds = append(p.KeptKinds, gvk) }
