package decide

import (
	"strconv"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/reconcilekit/reconcilekit/reconcile/apply"
	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/applyset"
	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/fieldset"
	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/memory"
	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/pass"
)

// unmarked reports whether a child that is only created lacks what makes it a
// child, and plans the patch. The content of such a child is left alone. Its
// owner reference has to name a version that the API server serves: garbage
// collection cannot follow another one, and leaves the child behind when the
// owner is deleted. A label that was taken off is put back on an object that is
// known to be this owner's. It is not fought for.
func unmarked(p *pass.Pass, c *pass.Child) bool {
	at := OutdatedReference(p, c.Live)
	unlabelled := c.Member && !c.Planned.Existing && c.Live.GetLabels()[applyset.PartOfLabel] == "" &&
		c.Memory.Ours() == c.Live.GetUID() && metav1.IsControlledBy(c.Live, p.Owner)
	if at < 0 && !unlabelled {
		return false
	}
	if at >= 0 {
		c.Result.Fields = append(c.Result.Fields, apply.FieldChange{
			Path: ".metadata.ownerReferences[" + strconv.Itoa(at) + "].apiVersion",
			From: strconv.Quote(c.Live.GetOwnerReferences()[at].APIVersion), To: strconv.Quote(p.OwnerKind.GVK.GroupVersion().String()),
		})
	}
	if unlabelled {
		c.Result.Fields = append(c.Result.Fields, apply.FieldChange{Path: ".metadata.labels." + applyset.PartOfLabel, To: strconv.Quote(p.SetID)})
	}
	if repairs(p, c) <= memory.MaxRepairs {
		c.Action, c.Result.Reason = pass.ActionMark, apply.ReasonDrift
		return true
	}
	contested := &apply.ContestedError{Kind: c.ID.GroupKind.Kind, Namespace: c.ID.Key.Namespace, Name: c.ID.Key.Name}
	last := fieldset.LastWriter(c.Live.GetManagedFields(), c.Manager)
	if last == c.Manager || last == "" {
		last = "unknown" // a removal leaves no entry
	}
	for _, f := range c.Result.Fields {
		contested.Fields = append(contested.Fields, apply.ContestedField{Path: f.Path, Manager: last})
	}
	c.Result.Fields = nil
	c.Fail(apply.OutcomeContested, apply.ReasonContested, contested)
	c.Requeue = p.Env.Options.ContestInterval
	return true
}

// OutdatedReference returns the index of the reference to this owner in another
// version of its kind, -1 if there is none.
func OutdatedReference(p *pass.Pass, o metav1.Object) int {
	if p.Group != nil {
		return -1
	}
	want := p.OwnerKind.GVK
	for i, ref := range o.GetOwnerReferences() {
		if ref.UID == p.Owner.GetUID() && ref.Kind == want.Kind && ref.APIVersion != want.GroupVersion().String() {
			return i
		}
	}
	return -1
}
