package engine

import (
	"errors"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/reconcilekit/reconcilekit/reconcile/apply"
	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/applyset"
)

// errReplaced ends a request for an object that has been replaced.
var errReplaced = errors.New("the object was replaced and the cache is stale; will retry")

// claimChild reports whether the existing child may be written: it belongs to the owner, or the plan allows its adoption, and it has not
// opted out. If so, the object is the child from then on. Otherwise the result has the reason.
func claimChild(p *pass, c *child) bool {
	if c.planned.Mode != apply.Contribute && optedOut(p, c.live) {
		c.result.Outcome, c.result.Reason = apply.OutcomeOptedOut, apply.ReasonOptedOut
		c.memory.ForgetProof()
		return false
	}
	if !mayTake(p, c) {
		return false
	}
	replaced := c.uid != "" && c.uid != c.live.GetUID() // the live read has seen another object
	c.uid = c.live.GetUID()
	proven := !c.recall.Ours && c.member && provesMember(p, c.live, "")
	if proven || replaced || !c.recall.Known {
		c.memory.Claimed(c.live, proven)
	}
	return true
}

func mayTake(p *pass, c *child) bool {
	if c.planned.Existing {
		return true // it is left alone, whichever owner it belongs to
	}
	if needsProof(p, c) && hidesProof(p, c) {
		return verifyLive(p, c) // the cache does not show who wrote it
	}
	return checkOwner(p, c, c.live)
}

// hidesProof reports whether the cache may hide the managedFields, or those of other managers, that prove that the child may be written.
func hidesProof(p *pass, c *child) bool {
	entries := c.live.GetManagedFields()
	if len(entries) == 0 {
		return true
	}
	shortened := slices.ContainsFunc(entries, func(e metav1.ManagedFieldsEntry) bool { return e.FieldsV1 == nil })
	return shortened && c.planned.Adoption != apply.AdoptControlled && !mayWrite(p, c, c.live)
}

// needsProof reports whether the managedFields are needed to decide whether the existing child may be written.
func needsProof(p *pass, c *child) bool {
	switch c.planned.Mode {
	case apply.Shared, apply.Retained:
		return !c.recall.Known
	case apply.Own:
		return !c.recall.Ours && (!c.reach || c.live.GetLabels()[applyset.PartOfLabel] != p.setID)
	case apply.Once, apply.Contribute:
	}
	return false
}

// verifyFirstWrite checks the owner before the first write to an existing child without a controller reference, because the cache may be
// stale.
func verifyFirstWrite(p *pass, c *child) {
	if verifyLive(p, c) && c.uid != c.live.GetUID() {
		c.fail(apply.OutcomeFailed, apply.ReasonNoMatch, errReplaced)
	}
}

// verifyLive reads the metadata of a child without a controller reference live before the first write. Without that reference, the API
// server would accept the write even if another controller owns the object. It pins the object by its UID.
func verifyLive(p *pass, c *child) bool {
	found, err := p.liveMetadata(c.kind.GVK, c.id.Key)
	if err != nil {
		c.fail(apply.OutcomeFailed, apply.ReasonReadFailed, err)
		return false
	}
	if found == nil {
		return true
	}
	if !checkOwner(p, c, found) {
		return false
	}
	c.uid = found.UID
	c.memory.Seen(found.UID)
	return true
}

// checkOwner applies the adoption policy. Contributions always go to objects of other owners.
func checkOwner(p *pass, c *child, o metav1.Object) bool {
	if c.planned.Mode == apply.Contribute {
		return true
	}
	if c.planned.Adoption == apply.AdoptControlled || mayWrite(p, c, o) || p.restored.adopts(o) {
		return true
	}
	controller := metav1.GetControllerOfNoCopy(o)
	if controller != nil {
		copied := *controller
		controller = &copied
	}
	owned := &apply.OwnedByAnotherError{
		Kind: c.id.GroupKind.Kind, Namespace: c.id.Key.Namespace, Name: c.id.Key.Name, Controller: controller,
	}
	c.fail(apply.OutcomeFailed, apply.ReasonNotOwned, owned)
	noteRestored(p, c, o, owned)
	c.memory.ForgetProof()
	return false
}
