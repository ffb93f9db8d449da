package reconcile

import (
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/reconcilekit/reconcilekit/reconcile/apply"
)

// PlanResult is the complete desired set of an owner. The zero value plans nothing; what earlier passes applied and the
// plan does not name any more is pruned. Objects need not be in any order: the engine orders them by kind.
type PlanResult struct {
	// RequeueAfter asks for another pass after this time at the latest; zero asks for none.
	RequeueAfter time.Duration
	// Hold keeps the owner's finalizer on although no child needs it. A reconciler that is a [Finalizer] always holds.
	Hold bool
	// Standstill leaves all children as they are: nothing is applied, deleted or pruned, whatever else is planned. The
	// finalizer is taken off unless Hold is set. It is for an owner that is not to be managed for now, and for a pass that
	// cannot tell yet what is wanted. An owner that is being deleted ignores it.
	Standstill bool
	// Withdraw says that a plan without most children is meant: they are pruned although neither the owner's spec nor Inputs
	// have changed, for an owner that an annotation has switched off.
	Withdraw bool
	// Inputs identifies what the plan was made from besides the owner's spec, such as a hash of a list that it read. While
	// it and the owner's generation stay the same, a plan that would prune most children at once is held back: it is more
	// often a mistake than a wish. Empty is a value like others.
	Inputs string

	set apply.Set
}

// Apply plans a child: the owner becomes its controller, and only the fields that are set in it are owned.
func (p *PlanResult) Apply(object client.Object, opts ...apply.ChildOption) {
	p.set.Apply(object, opts...)
}

// ApplyWithoutOwnerRef plans an object that several owners share or that must outlive this one: it gets no owner
// reference and is never pruned.
func (p *PlanResult) ApplyWithoutOwnerRef(object client.Object, opts ...apply.ChildOption) {
	p.set.ApplyWithoutOwnerRef(object, opts...)
}

// ApplyOnce plans a child that is created when it is missing and then left alone.
func (p *PlanResult) ApplyOnce(object client.Object, opts ...apply.ChildOption) {
	p.set.ApplyOnce(object, opts...)
}

// Keep plans that a child stays as it is if it exists: it is neither created nor changed nor pruned. It is for what must
// survive the feature that it was made for, such as the volume of a database, and for a pass that cannot say what the child
// should be, because what it is made from is away for the moment. It still goes with its owner. The child may be one that was
// read.
func (p *PlanResult) Keep(child client.Object) {
	kept, ok := child.DeepCopyObject().(client.Object)
	if !ok {
		return // no client.Object copies itself into something else
	}
	kept.SetManagedFields(nil)
	kept.SetResourceVersion("")
	kept.SetUID("")
	p.set.Keep(kept)
}

// Contribute plans a few fields of an object that is somebody else's. They are given back when the plan does not name
// them any more and when the owner is deleted. The object is never created.
func (p *PlanResult) Contribute(object client.Object, opts ...apply.ChildOption) {
	p.set.Contribute(object, opts...)
}

// Delete plans a deletion. An object without a UID is deleted when the owner controls it; one that was read is deleted
// as the very object that it was, by UID.
func (p *PlanResult) Delete(object client.Object, opts ...apply.DeletionOption) {
	p.set.Delete(object, opts...)
}

// Set is the plan as the apply engine takes it, for tests and for use without a [Pipeline].
func (p *PlanResult) Set() apply.Set {
	set := p.set
	set.Inputs, set.Hold, set.Standstill, set.Withdraw = p.Inputs, p.Hold, p.Standstill, p.Withdraw
	return set
}
