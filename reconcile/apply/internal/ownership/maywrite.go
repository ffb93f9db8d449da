package ownership

import (
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/reconcilekit/reconcilekit/reconcile/apply"
	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/pass"
)

// MayWrite reports whether the object is this owner's, or may become so.
func MayWrite(p *pass.Pass, c *pass.Child, o metav1.Object) bool {
	controller := metav1.GetControllerOfNoCopy(o)
	switch {
	case controller != nil && controller.UID == p.Owner.GetUID():
		return !LabelledByAnother(p, o)
	case controller != nil:
		return GrantedControllerTo(p, o, controller.UID) && LabelledByUs(p, o)
	case c.Planned.Mode == apply.Once:
		return true // it exists, which is all that was asked for
	case c.Planned.Adoption == apply.AdoptUncontrolled && c.Planned.Mode == apply.Own:
		// The part-of label stands for the reference that a child out of reach cannot have.
		return !Labelled(o) || InSet(p, o)
	case c.Planned.Adoption == apply.AdoptUncontrolled:
		return true
	case c.Planned.Mode == apply.Shared, c.Planned.Mode == apply.Retained:
		return LabelledByUs(p, o) || (!Labelled(o) && (c.Memory.Known(o.GetUID()) || isShared(o) || applies(p, o)))
	}
	return mayOwn(p, c, o)
}

// mayOwn reports whether an object without a controller is this owner's alone.
func mayOwn(p *pass.Pass, c *pass.Child, o metav1.Object) bool {
	if !Labelled(o) && (sharesAlone(p, o) || retained(p, o)) {
		return true // it was planned in another mode before
	}
	// Somebody may have taken reference or label off, or both, from a child that this process knows.
	return LabelledByUs(p, o) || (c.Memory.Ours() == o.GetUID() && (!Labelled(o) || InSet(p, o)))
}

// applies reports whether our manager has applied the object, or one that we
// have followed has written it. A status proves nothing: the object may be an
// owner of this controller.
func applies(p *pass.Pass, o metav1.Object) bool {
	return slices.ContainsFunc(o.GetManagedFields(), func(e metav1.ManagedFieldsEntry) bool {
		if e.Subresource != "" || !p.Env.Ours(e.Manager) {
			return false
		}
		return e.Manager != p.Env.Options.FieldManager || e.Operation == metav1.ManagedFieldsOperationApply
	})
}

const optOutValue = "false"

// OptedOut reports whether somebody has taken the object out of our hands.
func OptedOut(p *pass.Pass, o metav1.Object) bool {
	name := p.Env.Options.OptOutAnnotation
	return name != "" && o.GetAnnotations()[name] == optOutValue
}
