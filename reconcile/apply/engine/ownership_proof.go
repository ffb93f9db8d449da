package engine

import (
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/applyset"
	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/fieldset"
)

// isLabelled reports whether the object has a part-of label, whoever put it
// there and whatever it says.
func isLabelled(o metav1.Object) bool { return o.GetLabels()[applyset.PartOfLabel] != "" }

// grantedControllerTo reports whether the object has the owner reference from us: the plan of a
// group may make somebody the controller of its child.
func grantedControllerTo(p *pass, o metav1.Object, owner types.UID) bool {
	if p.group == nil {
		return false
	}
	entry := fieldset.Entry(o.GetManagedFields(), p.env.options.FieldManager)
	if entry == nil || entry.FieldsV1 == nil {
		return false
	}
	set, err := fieldset.Parse(entry.FieldsV1.GetRawBytes())
	if err != nil || set.Field("metadata") == nil {
		return false
	}
	references := set.Field("metadata").Field("ownerReferences")
	return references != nil && slices.ContainsFunc(references.Items, func(item fieldset.Item) bool {
		return item.Keys["uid"] == string(owner)
	})
}

// labelledByUs reports whether the object has the part-of label of this set and this
// controller owns it there.
func labelledByUs(p *pass, o metav1.Object) bool {
	if !inSet(p, o) {
		return false
	}
	entries := o.GetManagedFields()
	return slices.ContainsFunc(entries, func(e metav1.ManagedFieldsEntry) bool {
		return p.env.ours(e.Manager) && fieldset.OwnsMetadata(&e, "labels", applyset.PartOfLabel)
	})
}

// inSet reports whether the part-of label, whoever put it there, names this
// set.
func inSet(p *pass, o metav1.Object) bool {
	label := o.GetLabels()[applyset.PartOfLabel]
	return label != "" && (label == p.setID || label == p.memory.Sets.Standard || label == p.memory.Sets.Own)
}

// labelledByAnother reports whether the object is in the set of another
// controller: two controllers of one kind of owner refer to the same owner.
func labelledByAnother(p *pass, o metav1.Object) bool {
	label := o.GetLabels()[applyset.PartOfLabel]
	return label != p.setID && applyset.IsID(label) && !labelledByUs(p, o)
}

// provesMember reports whether an object with the label of this set is a child of
// the owner: it is labelled by this controller and refers to the owner, where
// a reference is possible. An object that this process has proven before stays
// proven while it is in the set.
func provesMember(p *pass, o metav1.Object, remembered types.UID) bool {
	if !refersToOwner(p, o) {
		return false
	}
	return (remembered == o.GetUID() && inSet(p, o)) || labelledByUs(p, o)
}

// refersToOwner reports whether the object has the references of a child: the owner
// is its controller where garbage collection follows that, and nobody is
// elsewhere.
func refersToOwner(p *pass, o metav1.Object) bool {
	controller := metav1.GetControllerOfNoCopy(o)
	if controller == nil {
		return !p.reaches(o.GetNamespace())
	}
	return controller.UID == p.owner.GetUID() || grantedControllerTo(p, o, controller.UID)
}
