package engine

import (
	"strconv"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/reconcilekit/reconcilekit/reconcile/apply"
	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/applyset"
	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/fieldset"
	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/memory"
)

// lacksMarks plans a patch if a child that is only created lacks its owner reference or label, and reports whether it does. The content of
// such a child is left alone. The owner reference must name a served version: garbage collection cannot follow another one and would not
// delete the child. A removed label is added again to an object that is known to be this owner's, but not repeatedly. A child of the history
// that has the label from another mode loses it, because it would be pruned.
func lacksMarks(p *pass, c *child) bool {
	at := outdatedReference(p, c.live)
	unlabelled := c.member && !c.planned.Existing && c.live.GetLabels()[applyset.PartOfLabel] == "" &&
		c.memory.Ours() == c.live.GetUID() && metav1.IsControlledBy(c.live, p.owner)
	listed := c.planned.History && inSet(p, c.live) && metav1.IsControlledBy(c.live, p.owner)
	if at < 0 && !unlabelled && !listed {
		return false
	}
	if at >= 0 {
		c.result.Fields = append(c.result.Fields, apply.FieldChange{
			Path: ".metadata.ownerReferences[" + strconv.Itoa(at) + "].apiVersion",
			From: strconv.Quote(c.live.GetOwnerReferences()[at].APIVersion), To: strconv.Quote(p.ownerKind.GVK.GroupVersion().String()),
		})
	}
	if unlabelled {
		c.result.Fields = append(c.result.Fields, apply.FieldChange{Path: ".metadata.labels." + applyset.PartOfLabel, To: strconv.Quote(p.setID)})
	}
	if listed {
		c.result.Fields = append(c.result.Fields, apply.FieldChange{
			Path: ".metadata.labels." + applyset.PartOfLabel, From: strconv.Quote(c.live.GetLabels()[applyset.PartOfLabel]),
		})
	}
	if repairs(p, c) <= memory.MaxRepairs {
		c.action, c.result.Reason = actionMark, apply.ReasonDrift
		return true
	}
	contested := &apply.ContestedError{Kind: c.id.GroupKind.Kind, Namespace: c.id.Key.Namespace, Name: c.id.Key.Name}
	last := fieldset.LastWriter(c.live.GetManagedFields(), c.manager)
	if last == c.manager || last == "" {
		last = "unknown" // a removal leaves no entry
	}
	for _, f := range c.result.Fields {
		contested.Fields = append(contested.Fields, apply.ContestedField{Path: f.Path, Manager: last})
	}
	c.result.Fields = nil
	c.fail(apply.OutcomeContested, apply.ReasonContested, contested)
	c.requeue = p.env.options.ContestInterval
	return true
}

// outdatedReference returns the index of the reference to this owner in another version of its kind, -1 if there is none.
func outdatedReference(p *pass, o metav1.Object) int {
	if p.group != nil {
		return -1
	}
	want := p.ownerKind.GVK
	for i, ref := range o.GetOwnerReferences() {
		if ref.UID == p.owner.GetUID() && ref.Kind == want.Kind && ref.APIVersion != want.GroupVersion().String() {
			return i
		}
	}
	return -1
}
