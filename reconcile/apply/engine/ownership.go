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

// mayWrite reports whether the object belongs to this owner or may be adopted.
func mayWrite(p *pass, c *child, o metav1.Object) bool {
	controller := metav1.GetControllerOfNoCopy(o)
	switch {
	case controller != nil && controller.UID == p.owner.GetUID():
		return !labelledByAnother(p, o)
	case controller != nil:
		return grantedControllerTo(p, o, controller.UID) && labelledByUs(p, o)
	case c.planned.Mode == apply.Once:
		return true // it exists, and the plan requires no more
	case c.planned.Adoption == apply.AdoptUncontrolled && c.planned.Mode == apply.Own:
		// A child out of reach cannot have a reference; the part-of label replaces it.
		return !isLabelled(o) || inSet(p, o)
	case c.planned.Adoption == apply.AdoptUncontrolled:
		return true
	case c.planned.Mode == apply.Shared, c.planned.Mode == apply.Retained:
		return labelledByUs(p, o) || (!isLabelled(o) && (c.memory.Known(o.GetUID()) || isShared(o) || hasApplied(p, o)))
	}
	return mayOwn(p, c, o)
}

// mayOwn reports whether an object without a controller belongs to this owner alone.
func mayOwn(p *pass, c *child, o metav1.Object) bool {
	if !isLabelled(o) && (sharesAlone(p, o) || isRetained(p, o)) {
		return true // it was planned in another mode before
	}
	// The reference, the label or both may have been removed from a child that this process knows.
	return labelledByUs(p, o) || (c.memory.Ours() == o.GetUID() && (!isLabelled(o) || inSet(p, o)))
}

// hasApplied reports whether the engine's field manager has applied the object, or a former manager has written it. A status does not
// count: the object may be an owner of this controller.
func hasApplied(p *pass, o metav1.Object) bool {
	return slices.ContainsFunc(o.GetManagedFields(), func(e metav1.ManagedFieldsEntry) bool {
		if e.Subresource != "" || !p.env.ours(e.Manager) {
			return false
		}
		return e.Manager != p.env.options.FieldManager || e.Operation == metav1.ManagedFieldsOperationApply
	})
}

const optOutValue = "false"

// optedOut reports whether the object has the opt-out annotation.
func optedOut(p *pass, o metav1.Object) bool {
	name := p.env.options.OptOutAnnotation
	return name != "" && o.GetAnnotations()[name] == optOutValue
}

// isLabelled reports whether the object has a part-of label with any value from any manager.
func isLabelled(o metav1.Object) bool { return o.GetLabels()[applyset.PartOfLabel] != "" }

// grantedControllerTo reports whether this controller has set the owner reference of the object: the plan of a group may set the
// controller of its child.
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

// labelledByUs reports whether the object has the part-of label of this set and this controller owns the label.
func labelledByUs(p *pass, o metav1.Object) bool {
	if !inSet(p, o) {
		return false
	}
	entries := o.GetManagedFields()
	return slices.ContainsFunc(entries, func(e metav1.ManagedFieldsEntry) bool {
		return p.env.ours(e.Manager) && fieldset.OwnsMetadata(&e, "labels", applyset.PartOfLabel)
	})
}

// inSet reports whether the part-of label names this set, whichever manager set it.
func inSet(p *pass, o metav1.Object) bool {
	label := o.GetLabels()[applyset.PartOfLabel]
	return label != "" && (label == p.setID || label == p.memory.Sets.Standard || label == p.memory.Sets.Own)
}

// labelledByAnother reports whether the object is in the set of another controller. Two controllers of one kind of owner refer to the same
// owner.
func labelledByAnother(p *pass, o metav1.Object) bool {
	label := o.GetLabels()[applyset.PartOfLabel]
	return label != p.setID && applyset.IsID(label) && !labelledByUs(p, o)
}

// provesMember reports whether an object with the label of this set is a child of the owner: this controller owns the label, and the
// object refers to the owner where a reference is possible. An object that this process has proven before remains proven while it is in
// the set.
func provesMember(p *pass, o metav1.Object, remembered types.UID) bool {
	if !refersToOwner(p, o) {
		return false
	}
	return (remembered == o.GetUID() && inSet(p, o)) || labelledByUs(p, o)
}

// refersToOwner reports whether the object has the references of a child: the owner is its controller if garbage collection follows the
// reference, and it has no controller otherwise.
func refersToOwner(p *pass, o metav1.Object) bool {
	controller := metav1.GetControllerOfNoCopy(o)
	if controller == nil {
		return !p.reaches(o.GetNamespace())
	}
	return controller.UID == p.owner.GetUID() || grantedControllerTo(p, o, controller.UID)
}

// deletedWithPart reports whether the object is deleted when this owner gives its part back: no other owner shares it, and it is no child.
func deletedWithPart(p *pass, o *metav1.PartialObjectMetadata) bool {
	return sharesAlone(p, o) && !isLabelled(o) && metav1.GetControllerOfNoCopy(o) == nil && !optedOut(p, o) &&
		fieldset.Entry(o.ManagedFields, p.env.options.FieldManager) == nil
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
func sharesAlone(p *pass, o metav1.Object) bool {
	return slices.Equal(sharers(o), []string{p.contributor()})
}

// isRetained reports whether the object is an [apply.Retained] one of this controller, which belongs to no single owner.
func isRetained(p *pass, o metav1.Object) bool {
	return slices.Equal(sharers(o), []string{p.env.options.FieldManager})
}
