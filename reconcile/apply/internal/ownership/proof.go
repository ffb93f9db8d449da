package ownership

import (
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/applyset"
	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/fieldset"
	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/pass"
)

// Labelled reports whether the object has a part-of label, whoever put it
// there and whatever it says.
func Labelled(o metav1.Object) bool { return o.GetLabels()[applyset.PartOfLabel] != "" }

// GrantedControllerTo reports whether the object has the owner reference from us: the plan of a
// group may make somebody the controller of its child.
func GrantedControllerTo(p *pass.Pass, o metav1.Object, owner types.UID) bool {
	if p.Group == nil {
		return false
	}
	entry := fieldset.Entry(o.GetManagedFields(), p.Env.Options.FieldManager)
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

// LabelledByUs reports whether the object has the part-of label of this set and this
// controller owns it there.
func LabelledByUs(p *pass.Pass, o metav1.Object) bool {
	if !InSet(p, o) {
		return false
	}
	entries := o.GetManagedFields()
	return slices.ContainsFunc(entries, func(e metav1.ManagedFieldsEntry) bool {
		return p.Env.Ours(e.Manager) && fieldset.OwnsMetadata(&e, "labels", applyset.PartOfLabel)
	})
}

// InSet reports whether the part-of label, whoever put it there, names this
// set.
func InSet(p *pass.Pass, o metav1.Object) bool {
	label := o.GetLabels()[applyset.PartOfLabel]
	return label != "" && (label == p.SetID || label == p.Memory.Sets.Standard || label == p.Memory.Sets.Own)
}

// LabelledByAnother reports whether the object is in the set of another
// controller: two controllers of one kind of owner refer to the same owner.
func LabelledByAnother(p *pass.Pass, o metav1.Object) bool {
	label := o.GetLabels()[applyset.PartOfLabel]
	return label != p.SetID && applyset.IsID(label) && !LabelledByUs(p, o)
}

// Proves reports whether an object with the label of this set is a child of
// the owner: it is labelled by this controller and refers to the owner, where
// a reference is possible. An object that this process has proven before stays
// proven while it is in the set.
func Proves(p *pass.Pass, o metav1.Object, remembered types.UID) bool {
	if !Refers(p, o) {
		return false
	}
	return (remembered == o.GetUID() && InSet(p, o)) || LabelledByUs(p, o)
}

// Refers reports whether the object has the references of a child: the owner
// is its controller where garbage collection follows that, and nobody is
// elsewhere.
func Refers(p *pass.Pass, o metav1.Object) bool {
	controller := metav1.GetControllerOfNoCopy(o)
	if controller == nil {
		return !p.Reaches(o.GetNamespace())
	}
	return controller.UID == p.Owner.GetUID() || GrantedControllerTo(p, o, controller.UID)
}
