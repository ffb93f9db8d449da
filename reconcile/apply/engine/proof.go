package engine

import (
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/reconcilekit/reconcilekit/reconcile/apply"
	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/applyset"
	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/managedfields"
)

// What belongs to a set is what can be proven: the part-of label names the set,
// and the managedFields say that this controller has put it there. A label that
// was inherited from another object, or copied with its manifest, proves
// nothing, as somebody else owns it.

// ours reports whether the manager is this controller, or was.
func (e *env) ours(manager string) bool {
	return manager == e.opts.FieldManager || slices.Contains(e.opts.FormerManagers, manager)
}

// labels reports whether the object has the part-of label of this set and this
// controller owns it there.
func (p *pass) labels(o metav1.Object) bool {
	if !p.inSet(o) {
		return false
	}
	entries := o.GetManagedFields()
	return slices.ContainsFunc(entries, func(e metav1.ManagedFieldsEntry) bool {
		return p.engine.ours(e.Manager) && managedfields.OwnsMetadata(&e, "labels", apply.PartOfLabel)
	})
}

// inSet reports whether the part-of label, whoever put it there, names this
// set.
func (p *pass) inSet(o metav1.Object) bool {
	label := o.GetLabels()[apply.PartOfLabel]
	return label != "" && (label == p.id || label == p.memory.Sets.Standard || label == p.memory.Sets.Own)
}

// labelledByAnother reports whether the object is in the set of another
// controller: two controllers of one kind of owner refer to the same owner.
func (p *pass) labelledByAnother(o metav1.Object) bool {
	label := o.GetLabels()[apply.PartOfLabel]
	return applyset.IsID(label) && label != p.id && !p.labels(o)
}

// proves reports whether an object with the label of this set is a child of
// the owner: it is labelled by this controller and refers to the owner, where
// a reference is possible. An object that this process has proven before stays
// proven while it is in the set.
func (p *pass) proves(o metav1.Object, remembered types.UID) bool {
	if !p.refers(o) {
		return false
	}
	return (remembered == o.GetUID() && p.inSet(o)) || p.labels(o)
}

// refers reports whether the object has the references of a child: the owner
// is its controller where garbage collection follows that, and nobody is
// elsewhere.
func (p *pass) refers(o metav1.Object) bool {
	controller := metav1.GetControllerOfNoCopy(o)
	if controller == nil {
		return !p.reaches(o.GetNamespace())
	}
	return controller.UID == p.owner.GetUID() || p.gave(o, controller.UID)
}
