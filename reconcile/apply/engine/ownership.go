package engine

import (
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/reconcilekit/reconcilekit/reconcile/apply"
)

// mayWrite reports whether the object is this owner's, or may become so.
func mayWrite(p *pass, c *child, o metav1.Object) bool {
	controller := metav1.GetControllerOfNoCopy(o)
	switch {
	case controller != nil && controller.UID == p.owner.GetUID():
		return !labelledByAnother(p, o)
	case controller != nil:
		return grantedControllerTo(p, o, controller.UID) && labelledByUs(p, o)
	case c.planned.Mode == apply.Once:
		return true // it exists, which is all that was asked for
	case c.planned.Adoption == apply.AdoptUncontrolled && c.planned.Mode == apply.Own:
		// The part-of label stands for the reference that a child out of reach cannot have.
		return !isLabelled(o) || inSet(p, o)
	case c.planned.Adoption == apply.AdoptUncontrolled:
		return true
	case c.planned.Mode == apply.Shared, c.planned.Mode == apply.Retained:
		return labelledByUs(p, o) || (!isLabelled(o) && (c.memory.Known(o.GetUID()) || isShared(o) || hasApplied(p, o)))
	}
	return mayOwn(p, c, o)
}

// mayOwn reports whether an object without a controller is this owner's alone.
func mayOwn(p *pass, c *child, o metav1.Object) bool {
	if !isLabelled(o) && (sharesAlone(p, o) || isRetained(p, o)) {
		return true // it was planned in another mode before
	}
	// Somebody may have taken reference or label off, or both, from a child that this process knows.
	return labelledByUs(p, o) || (c.memory.Ours() == o.GetUID() && (!isLabelled(o) || inSet(p, o)))
}

// hasApplied reports whether our manager has applied the object, or one that we
// have followed has written it. A status proves nothing: the object may be an
// owner of this controller.
func hasApplied(p *pass, o metav1.Object) bool {
	return slices.ContainsFunc(o.GetManagedFields(), func(e metav1.ManagedFieldsEntry) bool {
		if e.Subresource != "" || !p.env.ours(e.Manager) {
			return false
		}
		return e.Manager != p.env.options.FieldManager || e.Operation == metav1.ManagedFieldsOperationApply
	})
}

const optOutValue = "false"

// optedOut reports whether somebody has taken the object out of our hands.
func optedOut(p *pass, o metav1.Object) bool {
	name := p.env.options.OptOutAnnotation
	return name != "" && o.GetAnnotations()[name] == optOutValue
}
