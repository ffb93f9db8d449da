package engine

import (
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/reconcilekit/reconcilekit/reconcile/apply"
	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/applyset"
	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/fieldset"
)

// Membership in a set must be proven: the part-of label names the set, and the managedFields show that this controller has set the label.
// A label that was inherited from another object, or copied with its manifest, proves nothing, because another manager owns it.

// mayWrite reports whether the object belongs to this owner or may be adopted.
func (d *decider) mayWrite(o metav1.Object) bool {
	f := d.facts
	controller := metav1.GetControllerOfNoCopy(o)
	switch {
	case controller != nil && controller.UID == f.owner.GetUID():
		return !f.labelledByAnother(o)
	case controller != nil:
		return f.grantedControllerTo(o, controller.UID) && f.labelledByUs(o)
	case d.planned.Mode == apply.Once:
		return true // it exists, and the plan requires no more
	case d.planned.Adoption == apply.AdoptUncontrolled && d.planned.Mode == apply.Own:
		// A child out of reach cannot have a reference; the part-of label replaces it.
		return !isLabelled(o) || f.inSet(o)
	case d.planned.Adoption == apply.AdoptUncontrolled:
		return true
	case d.planned.Mode == apply.Shared, d.planned.Mode == apply.Retained:
		return f.labelledByUs(o) || (!isLabelled(o) && (d.recall.UID == o.GetUID() || isShared(o) || f.hasApplied(o)))
	}
	return d.mayOwn(o)
}

// mayOwn reports whether an object without a controller belongs to this owner alone.
func (d *decider) mayOwn(o metav1.Object) bool {
	f := d.facts
	if !isLabelled(o) && (f.sharesAlone(o) || f.isRetained(o)) {
		return true // it was planned in another mode before
	}
	// The reference, the label or both may have been removed from a child that this process knows.
	return f.labelledByUs(o) || (d.recall.OursUID == o.GetUID() && (!isLabelled(o) || f.inSet(o)))
}

// hasApplied reports whether the engine's field manager has applied the object, or a former manager has written it. A status does not
// count: the object may be an owner of this controller.
func (f *facts) hasApplied(o metav1.Object) bool {
	return slices.ContainsFunc(o.GetManagedFields(), func(e metav1.ManagedFieldsEntry) bool {
		if e.Subresource != "" || !f.ours(e.Manager) {
			return false
		}
		return e.Manager != f.options.FieldManager || e.Operation == metav1.ManagedFieldsOperationApply
	})
}

const optOutValue = "false"

// optedOut reports whether the object has the opt-out annotation.
func (f *facts) optedOut(o metav1.Object) bool {
	name := f.options.OptOutAnnotation
	return name != "" && o.GetAnnotations()[name] == optOutValue
}

// isLabelled reports whether the object has a part-of label with any value from any manager.
func isLabelled(o metav1.Object) bool { return o.GetLabels()[applyset.PartOfLabel] != "" }

// grantedControllerTo reports whether this controller has set the owner reference of the object: the plan of a group may set the
// controller of its child.
func (f *facts) grantedControllerTo(o metav1.Object, owner types.UID) bool {
	if f.group == nil {
		return false
	}
	entry := fieldset.Entry(o.GetManagedFields(), f.options.FieldManager)
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

// labelledByUs reports whether the object has the part-of label of this set and this controller owns the label.
func (f *facts) labelledByUs(o metav1.Object) bool {
	if !f.inSet(o) {
		return false
	}
	entries := o.GetManagedFields()
	return slices.ContainsFunc(entries, func(e metav1.ManagedFieldsEntry) bool {
		return f.ours(e.Manager) && fieldset.OwnsMetadata(&e, "labels", applyset.PartOfLabel)
	})
}

// inSet reports whether the part-of label names this set, whichever manager set it.
func (f *facts) inSet(o metav1.Object) bool {
	label := o.GetLabels()[applyset.PartOfLabel]
	return label != "" && (label == f.setID || label == f.sets.Standard || label == f.sets.Own)
}

// labelledByAnother reports whether the object is in the set of another controller. Two controllers of one kind of owner refer to the same
// owner.
func (f *facts) labelledByAnother(o metav1.Object) bool {
	label := o.GetLabels()[applyset.PartOfLabel]
	return label != f.setID && applyset.IsID(label) && !f.labelledByUs(o)
}

// provesMember reports whether an object with the label of this set is a child of the owner: this controller owns the label, and the
// object refers to the owner where a reference is possible. An object that this process has proven before remains proven while it is in
// the set.
func (f *facts) provesMember(o metav1.Object, remembered types.UID) bool {
	if !f.refersToOwner(o) {
		return false
	}
	return (remembered == o.GetUID() && f.inSet(o)) || f.labelledByUs(o)
}

// refersToOwner reports whether the object has the references of a child: the owner is its controller if garbage collection follows the
// reference, and it has no controller otherwise.
func (f *facts) refersToOwner(o metav1.Object) bool {
	controller := metav1.GetControllerOfNoCopy(o)
	if controller == nil {
		return !f.reaches(o.GetNamespace())
	}
	return controller.UID == f.owner.GetUID() || f.grantedControllerTo(o, controller.UID)
}

// deletedWithPart reports whether the object is deleted when this owner gives its part back: no other owner shares it, and it is no child.
func (f *facts) deletedWithPart(o *metav1.PartialObjectMetadata) bool {
	return f.sharesAlone(o) && !isLabelled(o) && metav1.GetControllerOfNoCopy(o) == nil && !f.optedOut(o) &&
		fieldset.Entry(o.ManagedFields, f.options.FieldManager) == nil
}

// sharers returns the field managers that own the annotation of shared objects by apply.
func sharers(o metav1.Object) []string {
	var out []string
	entries := o.GetManagedFields()
	for i := range entries {
		e := &entries[i]
		if e.Operation == metav1.ManagedFieldsOperationApply && fieldset.OwnsMetadata(e, "annotations", applyset.SharedAnnotation) {
			out = append(out, e.Manager)
		}
	}
	return out
}

// isShared reports whether an owner of any controller has a part of the shared object.
func isShared(o metav1.Object) bool {
	return slices.ContainsFunc(sharers(o), func(manager string) bool { return strings.Contains(manager, ":") })
}

// sharesAlone reports whether only this owner shares the object, so that it may use another mode.
func (f *facts) sharesAlone(o metav1.Object) bool {
	return slices.Equal(sharers(o), []string{f.contributor})
}

// isRetained reports whether the object is an [apply.Retained] one of this controller, which belongs to no single owner.
func (f *facts) isRetained(o metav1.Object) bool {
	return slices.Equal(sharers(o), []string{f.options.FieldManager})
}
