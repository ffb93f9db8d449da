package ownership

import (
	"errors"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/reconcilekit/reconcilekit/reconcile/apply"
	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/applyset"
	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/pass"
)

// ErrReplaced ends a request for an object that is another one by now.
var ErrReplaced = errors.New("the object was replaced and the cache is stale; will retry")

// Claim reports whether the child that exists may be written: it is ours, or the
// plan allows to adopt it, and nobody has taken it out of our hands. It is the
// child from then on. Otherwise the result has the reason.
func Claim(p *pass.Pass, c *pass.Child) bool {
	if c.Planned.Mode != apply.Contribute && OptedOut(p, c.Live) {
		c.Result.Outcome, c.Result.Reason = apply.OutcomeOptedOut, apply.ReasonOptedOut
		c.Memory.ForgetProof()
		return false
	}
	if !mayTake(p, c) {
		return false
	}
	replaced := c.UID != "" && c.UID != c.Live.GetUID() // the live look has seen another one
	c.UID = c.Live.GetUID()
	proven := !c.Recall.Ours && c.Member && Proves(p, c.Live, "")
	if proven || replaced || !c.Recall.Known {
		c.Memory.Claimed(c.Live, proven)
	}
	return true
}

func mayTake(p *pass.Pass, c *pass.Child) bool {
	if c.Planned.Existing {
		return true // it is left alone, whosever it is
	}
	if needsProof(p, c) && hidesProof(p, c) {
		return verifyLive(p, c) // the cache cannot say who wrote it
	}
	return CheckOwner(p, c, c.Live)
}

// hidesProof reports whether the cache may have taken away what proves that the
// child may be written: all managedFields, or those of others.
func hidesProof(p *pass.Pass, c *pass.Child) bool {
	entries := c.Live.GetManagedFields()
	if len(entries) == 0 {
		return true
	}
	shortened := slices.ContainsFunc(entries, func(e metav1.ManagedFieldsEntry) bool { return e.FieldsV1 == nil })
	return shortened && c.Planned.Adoption != apply.AdoptControlled && !MayWrite(p, c, c.Live)
}

// needsProof reports whether it takes the managedFields of a child that exists
// to know whether it may be written.
func needsProof(p *pass.Pass, c *pass.Child) bool {
	switch c.Planned.Mode {
	case apply.Shared, apply.Retained:
		return !c.Recall.Known
	case apply.Own:
		return !c.Recall.Ours && (!c.Reach || c.Live.GetLabels()[applyset.PartOfLabel] != p.SetID)
	case apply.Once, apply.Contribute:
	}
	return false
}

// VerifyFirstWrite precedes the first write of a child without controller reference
// that exists: the cache may be out of date about whose it is.
func VerifyFirstWrite(p *pass.Pass, c *pass.Child) {
	if verifyLive(p, c) && c.UID != c.Live.GetUID() {
		c.Fail(apply.OutcomeFailed, apply.ReasonNoMatch, ErrReplaced)
	}
}

// verifyLive reads the metadata of a child without controller reference live,
// before the first write: no reference to a second controller would make the
// server refuse. It pins the object by its UID.
func verifyLive(p *pass.Pass, c *pass.Child) bool {
	found, err := p.LiveMetadata(c.Kind.GVK, c.ID.Key)
	if err != nil {
		c.Fail(apply.OutcomeFailed, apply.ReasonReadFailed, err)
		return false
	}
	if found == nil {
		return true
	}
	if !CheckOwner(p, c, found) {
		return false
	}
	c.UID = found.UID
	c.Memory.Seen(found.UID)
	return true
}

// CheckOwner applies the adoption policy. Contributions are by their nature to
// objects of others.
func CheckOwner(p *pass.Pass, c *pass.Child, o metav1.Object) bool {
	if c.Planned.Mode == apply.Contribute {
		return true
	}
	if c.Planned.Adoption == apply.AdoptControlled || MayWrite(p, c, o) {
		return true
	}
	controller := metav1.GetControllerOfNoCopy(o)
	if controller != nil {
		copied := *controller
		controller = &copied
	}
	c.Fail(apply.OutcomeFailed, apply.ReasonNotOwned, &apply.OwnedByAnotherError{
		Kind: c.ID.GroupKind.Kind, Namespace: c.ID.Key.Namespace, Name: c.ID.Key.Name, Controller: controller,
	})
	c.Memory.ForgetProof()
	return false
}
