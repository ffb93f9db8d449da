package engine

import (
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/applyset"
	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/fieldset"
)

// goesWithPart reports whether the object goes when this owner gives its part
// back: it is shared with nobody else, and nobody has made it a child.
func goesWithPart(p *pass, o *metav1.PartialObjectMetadata) bool {
	return sharesAlone(p, o) && !isLabelled(o) && metav1.GetControllerOfNoCopy(o) == nil && !optedOut(p, o) &&
		fieldset.Entry(o.ManagedFields, p.env.options.FieldManager) == nil
}

// sharers are the field managers that own the annotation of shared objects by
// apply.
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

// isShared reports whether an owner has a part of the object as a shared one,
// of whatever controller.
func isShared(o metav1.Object) bool {
	return slices.ContainsFunc(sharers(o), func(manager string) bool { return strings.Contains(manager, ":") })
}

// sharesAlone reports whether this owner is the only one that shares the
// object, so that it may do something else with it.
func sharesAlone(p *pass, o metav1.Object) bool {
	return slices.Equal(sharers(o), []string{p.contributor()})
}

// isRetained reports whether the object is a [apply.Retained] one of this controller,
// which is no owner's in particular.
func isRetained(p *pass, o metav1.Object) bool {
	return slices.Equal(sharers(o), []string{p.env.options.FieldManager})
}
