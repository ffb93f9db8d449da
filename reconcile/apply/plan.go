package apply

import (
	"errors"
	"reflect"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Plan is everything that one pass wants to be true about the children of one
// owner. It must be complete: a child that was applied before and is missing
// here is pruned. The zero value plans nothing. reconcile.PlanResult is this
// type, so that author, engine and diff share one plan.
type Plan struct {
	// Children are the objects to apply. The order given is kept within a
	// kind; across kinds the engine orders them itself, see [engine.Engine.Apply].
	Children []Child
	// Owner is what is planned of the owner itself, nil for nothing. Fill it with
	// [Plan.Metadata].
	Owner *Child
	// Deletes are the objects that must not exist.
	Deletes []Deletion
	// Policy reports what a pass does with the plan. Default [Manage].
	Policy Policy
	// Hold keeps the finalizer on the owner although no child needs it, for
	// owners that have something outside the cluster to clean up, and, of an
	// owner that is being deleted, until it is false. It says nothing about
	// the children. Default false.
	Hold bool
	// RequeueAfter asks for another pass after this time at the latest,
	// counted from the end of the pass; a negative time is over already, so
	// that the pass follows at once. Zero asks for none.
	RequeueAfter time.Duration
	// RequeueAt asks for another pass at this time at the latest; a time that
	// has passed asks for one at once. The zero time asks for none.
	RequeueAt time.Time
	// Inputs identifies what the plan was made from besides the owner's
	// spec, for example a hash of the objects that it read. The guard
	// against pruning too much holds while it and the owner's generation
	// are those of the last successful apply. Empty is a value like others.
	Inputs string
	// PruneBlocked, when not nil, is the reason why the plan may be incomplete.
	// Nothing is pruned, and the result says so with this error as the cause.
	// Set it with [Plan.Incomplete].
	PruneBlocked error
	// KeptKinds are kinds whose children stay although the plan does not name
	// them, see [Plan.KeepKind].
	KeptKinds []schema.GroupVersionKind
	// Unknown are kinds of whose children the plan says nothing, with the
	// reason, for example that the kind is not served in the version that the
	// plan would name. What exists of them is kept, and the result names it.
	// An owner that is being deleted ignores it.
	Unknown map[schema.GroupKind]error
}

// Policy reports what a pass does with a [Plan].
//
//	Suspend        no child of the owner is touched
//	Plan.Keep      one child is not touched
//	Plan.KeepKind  no child of a kind is touched unless the plan names it
//	WaitUntil      one child or deletion waits for a condition
//	Withdraw       few children, or none, are meant: the rest is deleted
//	Plan.Hold      the owner keeps its finalizer
type Policy int

const (
	// Manage carries the plan out: children are applied, and what is no
	// longer planned is pruned, guarded against pruning too much.
	Manage Policy = iota
	// Suspend leaves the children as they are: nothing is applied, deleted
	// or pruned, whatever else the plan says. The finalizer is kept while
	// Hold says so, as it does for a reconciler with a Finalize phase, and
	// taken off otherwise; the inventory stays, so that a
	// later plan takes up where the last one ended. It is for an owner that
	// is not to be managed for now, and for a pass that cannot say what is
	// wanted. An owner that is being deleted ignores it.
	Suspend
	// Withdraw is [Manage] for a plan in which few children, or none, are
	// meant: its prune is not guarded, although neither spec nor inputs have
	// changed. It is for an owner that an annotation has switched off.
	Withdraw
)

// Child is one object of a [Plan]. Exactly one of Object and Configuration is
// set.
type Child struct {
	// Object is a typed or unstructured object. Only what is set in it is
	// sent, see the package documentation. It is not changed. Its namespace
	// defaults to the namespace of the owner.
	Object client.Object
	// Configuration is a generated apply configuration, the alternative to
	// Object. It needs apiVersion, kind and name.
	Configuration runtime.ApplyConfiguration
	// Mode reports how the object relates to the owner. Default [Own].
	Mode Mode
	// Fields are rules for single fields. A field without a rule is owned.
	Fields []FieldRule
	// Adoption reports whether an object that exists already and was not made
	// by this owner may be taken over. Default none.
	Adoption Adoption
	// Existing restricts [Once] to a child that exists: it is not created.
	// Somebody else's object of the name is none of ours and no error.
	// See [Plan.Keep]. Default false.
	Existing bool
	// Recreate allows to delete and recreate the object when the server
	// refuses the change because a field is immutable, see [Recreate]. Default false.
	Recreate bool
	// RecreatePropagation is what happens to the dependents when the object is
	// deleted to be recreated. Default see [Recreate].
	RecreatePropagation metav1.DeletionPropagation
	// WaitsUntil is the condition that the child waits for, see [WaitUntil].
	// Empty waits for nothing.
	WaitsUntil string
	// Announcement is the event for the write of the child, see [Announce].
	// Default none.
	Announcement Announcement
}

// Mode reports how a child relates to its owner. It is a [ChildOption] of
// [Plan.Apply]: plan.Apply(object, apply.Retained).
//
//	               created  changed later     left out of a plan      owner is deleted        owners of one object
//	Own            yes      yes               deleted                 deleted                 one
//	Once           yes      no                deleted                 deleted                 one
//	Shared         yes      the owner's part  the part is taken back  the part is taken back  several, a part each
//	Retained       yes      yes               stays                   stays                   several, which plan it alike
//	Contribute     no       the given fields  they are given back     they are given back     several, and other controllers
//	Plan.Keep      no       no                deleted                 deleted                 one
//	Plan.KeepKind  no       no                deleted                 deleted                 one
//
// [Plan.Keep] names a child that stays, and [Plan.KeepKind] all children of a
// kind. An object that several owners share is deleted with its last part.
type Mode int

const (
	// Own makes the owner the controller of the child. The child carries
	// the part-of label and is pruned when it is no longer planned. A child
	// outside the owner's reach (cluster-scoped, or in another namespace
	// than a namespaced owner) gets no owner reference, as garbage
	// collection would delete it; the owner then gets the finalizer.
	Own Mode = iota
	// Shared applies this owner's part of an object that several owners
	// share, under a field manager of this owner alone: no owner reference,
	// no part-of label. The part is taken back when it is no longer planned
	// and when the owner is deleted, and the object goes with the last part.
	// The owner gets the finalizer. The annotation reconcilekit.dev/shared
	// is on the object as long as an owner has a part of it. See the table at [Mode].
	Shared
	// Once creates the child if it does not exist and leaves it alone from
	// then on. Apart from that it is like [Own]. See the table at [Mode].
	Once
	// Contribute owns a few fields of an object that is somebody else's,
	// under a field manager of this owner alone. The object is never
	// created, and the fields are given back when the contribution is no
	// longer planned and when the owner is deleted. See the table at [Mode].
	Contribute
	// Retained applies an object that outlives its owners: no owner
	// reference, no part-of label, never pruned nor deleted. All owners of
	// the controller write it under one field manager, so that they must
	// plan it alike. It has the annotation reconcilekit.dev/shared. See the
	// table at [Mode].
	Retained
)

// Deletion is one object that must not exist.
type Deletion struct {
	// Object names the object by kind, namespace and name. If it has a UID
	// only the object with that UID is deleted, whoever made it; without one
	// a child of the owner is, and what Labels or Uncontrolled allow. An
	// object of another controller is never deleted, see
	// [OwnedByAnotherError], except the owner itself.
	Object client.Object
	// MatchResourceVersion makes the resourceVersion of Object a
	// precondition too. Needed where the decision read the status.
	MatchResourceVersion bool
	// Labels are labels that the object must have to be deleted; one without
	// them is somebody else's of that name and stays. One with them may have
	// been made by anybody. Empty asks for none.
	Labels map[string]string
	// Propagation is how the dependents of the object go. Empty is
	// [Options.Propagation].
	Propagation metav1.DeletionPropagation
	// Uncontrolled allows to delete an object that this owner did not make, as
	// long as no other controller has it. Default false.
	Uncontrolled bool
	// WaitsUntil is the condition that the deletion waits for, see
	// [WaitUntil]. Empty waits for nothing.
	WaitsUntil string
	// Announcement is the event for the deletion, see [Announce]. Default none.
	Announcement Announcement
}

// Incomplete marks the plan as possibly incomplete: an input of it is not
// known, for example because a read failed. Children that are planned are
// applied. Nothing is pruned, and the condition PruneBlocked reports err while
// it keeps a child. Calls add up; a nil error marks nothing.
func (p *Plan) Incomplete(err error) {
	switch {
	case err == nil:
	case p.PruneBlocked == nil:
		p.PruneBlocked = err
	default:
		p.PruneBlocked = errors.Join(p.PruneBlocked, err)
	}
}

// Apply plans obj as a child that the owner controls, or in the [Mode] among the
// options.
func (p *Plan) Apply(obj client.Object, opts ...ChildOption) {
	p.add(Child{Object: obj}, opts)
}

// ApplyConfiguration plans a generated apply configuration as a child that the
// owner controls.
func (p *Plan) ApplyConfiguration(ac runtime.ApplyConfiguration, opts ...ChildOption) {
	p.add(Child{Configuration: ac}, opts)
}

// Keep plans that the child stays as it is if it exists: it is neither created
// nor changed nor pruned. It is for what must survive the feature that it was
// made for, such as the volume of a database, and for a pass that cannot say
// what the child should be, because an input is temporarily unavailable. It is
// still deleted with its owner. The child may be one that was read. [Mode] has
// a table of the alternatives.
func (p *Plan) Keep(child client.Object) {
	p.add(Child{Object: nameOf(child), Mode: Once, Existing: true}, nil)
}

// nameOf is an object of which nothing is to be written. What is nil stays nil,
// so that the pass reports it.
func nameOf(o client.Object) client.Object {
	if v := reflect.ValueOf(o); !v.IsValid() || (v.Kind() == reflect.Pointer && v.IsNil()) {
		return o
	}
	if u, ok := o.(*unstructured.Unstructured); ok { // its content may be of types that cannot be copied
		named := &unstructured.Unstructured{}
		named.SetGroupVersionKind(u.GroupVersionKind())
		named.SetNamespace(u.GetNamespace())
		named.SetName(u.GetName())
		return named
	}
	kept, ok := o.DeepCopyObject().(client.Object)
	if !ok {
		return o // no client.Object copies itself into something else
	}
	kept.SetManagedFields(nil)
	kept.SetResourceVersion("")
	kept.SetUID("")
	return kept
}

// RequeueIn returns how long after now the plan asks for another pass, the
// sooner of RequeueAfter and RequeueAt, and false if it asks for none. A time
// that is over is a nanosecond from now.
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

// Contribute plans the fields set in obj as fields of somebody else's object.
func (p *Plan) Contribute(obj client.Object, opts ...ChildOption) {
	p.add(Child{Object: obj, Mode: Contribute}, opts)
}

// Delete plans that obj does not exist: a child of the owner by name, or the
// very object that was read, by its UID. See [Deletion] for what else there is
// to say.
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

// usualChildren is the room that a plan starts with.
const usualChildren = 8

// KeepKind plans that all children of the kind stay that the plan does not name: none of them is pruned, seen or not, and nothing is
// given back that the owner has contributed to objects of the kind. It is for a
// history, such as the Jobs that a schedule has made: each is created with [Once] in the pass that wants it, is left out of
// later plans, and goes with [Plan.Delete] or with the owner. The kind is declared as owned. [Mode] has a table of the alternatives.
func (p *Plan) KeepKind(gvk schema.GroupVersionKind) { p.KeptKinds = append(p.KeptKinds, gvk) }
