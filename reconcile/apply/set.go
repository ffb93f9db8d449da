package apply

import (
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Set is everything that one pass wants to be true about the children of one
// owner. It must be complete: a child that was applied before and is missing
// here is pruned. The zero value plans nothing.
type Set struct {
	// Children are the objects to apply. The order given is kept within a
	// kind; across kinds the engine orders them itself, see [Engine.Apply].
	Children []Child
	// Deletes are the objects that must not exist.
	Deletes []Deletion
	// Hold keeps the finalizer on the owner although no child needs it,
	// for owners that have something outside the cluster to clean up.
	Hold bool
	// Standstill leaves the children as they are: nothing is applied, deleted
	// or pruned, whatever else the set says. The finalizer is kept while Hold
	// says so and taken off otherwise; the inventory stays, so that a later
	// set takes up where the last one ended. For a pass that must not or
	// cannot say what is wanted. An owner that is being deleted ignores it.
	Standstill bool
	// Withdraw says that a set with few children or none is meant: its prune
	// is not guarded, although neither spec nor inputs have changed.
	Withdraw bool
	// Finalize says that the owner is being deleted and the set is what has
	// to exist meanwhile. An owner with a deletion timestamp implies it.
	// Children that garbage collection does not reach are deleted, and when
	// the last one is gone, Children is empty and Hold is false, the
	// finalizer is removed. Prunes are not guarded.
	Finalize bool
	// PruneBlocked, when not nil, says why the set may be incomplete, for
	// example the error of a read. Nothing is pruned, and the result says
	// so with this error as the cause.
	PruneBlocked error
	// Inputs identifies what the plan was made from besides the owner's
	// spec, for example a hash of the objects that it read. The guard
	// against pruning too much holds while it and the owner's generation
	// are those of the last successful apply. Empty is a value like others.
	Inputs string
}

// Child is one object of a [Set]. Exactly one of Object and Configuration is
// set.
type Child struct {
	// Object is a typed or unstructured object. Only what is set in it is
	// sent, see the package documentation. It is not changed. Its namespace
	// defaults to the namespace of the owner.
	Object client.Object
	// Configuration is a generated apply configuration, the alternative to
	// Object. It needs apiVersion, kind and name.
	Configuration runtime.ApplyConfiguration
	// Mode says how the object relates to the owner. Default [Own].
	Mode Mode
	// Fields are rules for single fields. A field without a rule is owned.
	Fields []FieldRule
	// Adoption says whether an object that exists already and was not made
	// by this owner may be taken over. Default [AdoptNever].
	Adoption Adoption
	// Existing restricts [Once] to a child that exists: it is not created.
	// Somebody else's object of the name is none of ours and no error.
	// See [Set.Keep]. Default false.
	Existing bool
	// Recreate allows to delete and recreate the object when the server
	// refuses the change because a field is immutable. Default false.
	Recreate bool
}

// Mode says how a child relates to its owner.
type Mode int

const (
	// Own makes the owner the controller of the child. The child carries
	// the part-of label and is pruned when it is no longer planned. A child
	// outside the owner's reach (cluster-scoped, or in another namespace
	// than a namespaced owner) gets no owner reference, as garbage
	// collection would delete it; the owner then gets the finalizer.
	Own Mode = iota
	// Shared applies an object that several owners share: no owner
	// reference, no part-of label, never pruned.
	Shared
	// Once creates the child if it does not exist and leaves it alone from
	// then on. Apart from that it is like [Own].
	Once
	// Contribute owns a few fields of an object that is somebody else's,
	// under a field manager of this owner alone. The object is never
	// created, and the fields are given back when the contribution is no
	// longer planned and when the owner is deleted.
	Contribute
)

// Deletion is one object that must not exist.
type Deletion struct {
	// Object names the object by kind, namespace and name. If it has a UID
	// only the object with that UID is deleted.
	Object client.Object
	// MatchResourceVersion makes the resourceVersion of Object a
	// precondition too. Needed where the decision read the status.
	MatchResourceVersion bool
	// Labels are labels that the object must have to be deleted; one without
	// them is somebody else's of that name. Empty matches any object.
	Labels map[string]string
}

// Apply plans obj as a child that the owner controls.
func (s *Set) Apply(obj client.Object, opts ...ChildOption) {
	s.add(Child{Object: obj}, opts)
}

// ApplyConfiguration plans a generated apply configuration as a child that the
// owner controls.
func (s *Set) ApplyConfiguration(ac runtime.ApplyConfiguration, opts ...ChildOption) {
	s.add(Child{Configuration: ac}, opts)
}

// ApplyWithoutOwnerRef plans obj as an object that several owners share.
func (s *Set) ApplyWithoutOwnerRef(obj client.Object, opts ...ChildOption) {
	s.add(Child{Object: obj, Mode: Shared}, opts)
}

// ApplyOnce plans obj to be created if missing and left alone afterwards.
func (s *Set) ApplyOnce(obj client.Object, opts ...ChildOption) {
	s.add(Child{Object: obj, Mode: Once}, opts)
}

// Keep plans that the child stays as it is if it exists: it is neither created
// nor changed nor pruned. It is for what must survive the feature that it was
// made for, such as the volume of a database. It still goes with its owner.
func (s *Set) Keep(obj client.Object) {
	s.add(Child{Object: obj, Mode: Once, Existing: true}, nil)
}

// Contribute plans the fields set in obj as fields of somebody else's object.
func (s *Set) Contribute(obj client.Object, opts ...ChildOption) {
	s.add(Child{Object: obj, Mode: Contribute}, opts)
}

// Delete plans that obj does not exist.
func (s *Set) Delete(obj client.Object, opts ...DeletionOption) {
	d := Deletion{Object: obj}
	for _, o := range opts {
		o.ApplyToDeletion(&d)
	}
	s.Deletes = append(s.Deletes, d)
}

func (s *Set) add(c Child, opts []ChildOption) {
	for _, o := range opts {
		o.ApplyToChild(&c)
	}
	if s.Children == nil {
		s.Children = make([]Child, 0, usualChildren)
	}
	s.Children = append(s.Children, c)
}

// usualChildren is the room that a plan starts with.
const usualChildren = 8
