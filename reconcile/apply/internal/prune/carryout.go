package prune

import (
	"errors"
	"fmt"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"

	"github.com/reconcilekit/reconcilekit/reconcile/apply"
	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/intent"
	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/memory"
	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/ownership"
	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/pass"
	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/write"
)

// notPlanned returns the members that are no longer planned and ours to delete.
func (p *Prune) notPlanned(members []memberObject) []memberObject {
	if p.Orphans() {
		return nil
	}
	var out, near []memberObject
	for _, m := range members {
		planned := m.planned && (!p.Finalize || p.Plan.Hold) // without a hold nothing outlives the owner
		switch {
		case planned || p.KeepsKind(m.id.GroupKind) || m.optedOut:
		case p.Finalize && m.reached:
			near = append(near, m)
		default:
			out = append(out, m)
		}
	}
	out = p.addNear(out, near)
	slices.SortStableFunc(out, func(a, b memberObject) int { return intent.Rank(b.id.GroupKind) - intent.Rank(a.id.GroupKind) })
	return out
}

// decideMember decides whether a member is deleted now: not while that is
// under way, or was refused a moment ago.
func (p *Prune) decideMember(m memberObject) *surplusMember {
	s := &surplusMember{memberObject: m, Result: apply.ObjectResult{Outcome: apply.OutcomeUnchanged, Decision: apply.Decision{
		GVK: m.gvk, Key: m.id.Key, UID: m.uid, Verb: apply.VerbNone, Reason: apply.ReasonTerminating,
	}, HoldsData: m.holdsData}}
	if m.deleting || p.DeletedAlready(m.id, m.uid) {
		return s
	}
	known := p.Memory.Child(m.id)
	known.Surplus(m.gvk)
	if f := known.FailedIn(memory.Situation{UID: m.uid}, p.Now); f != nil {
		s.Result.Reason, s.Result.Outcome, s.Result.Err = apply.ReasonBackoff, apply.OutcomeFailed, fmt.Errorf("prune: %w", f.Err)
		s.Result.RequeueAfter = f.Until.Sub(p.Now)
		return s
	}
	s.Result.Verb, s.Result.Reason = apply.VerbPrune, apply.ReasonNotPlanned
	return s
}

// pruneAll deletes the surplus, save what is deleted last, and reports whether some of it may still be there.
func (p *Prune) pruneAll() (remaining bool) {
	return p.pruneThose(func(m *surplusMember) bool { return !p.last(m.memberObject) })
}

// pruneLast deletes what cannot be gone before the owner is, and reports
// whether the deletion of some of it was not accepted.
func (p *Prune) pruneLast() (remaining bool) {
	p.pruneThose(p.comesLast)
	return slices.ContainsFunc(p.Surplus, func(m *surplusMember) bool {
		return p.comesLast(m) && m.Result.Outcome != apply.OutcomePruned
	})
}

func (p *Prune) pruneThose(meant func(*surplusMember) bool) (remaining bool) {
	failed := &apply.PruneBlockedError{Reason: apply.ReasonPruneFailed}
	for _, m := range p.Surplus {
		if !meant(m) {
			continue
		}
		remaining = true
		if m.Result.Reason == apply.ReasonTerminating {
			p.blockHeld(m.memberObject)
			p.Requeue(pass.ConfirmAfter)
			continue
		}
		if c := p.referrer(m.memberObject); c != nil {
			p.Block(&apply.PruneBlockedError{
				Reason: apply.ReasonReferenced, Objects: []string{m.id.String()}, Cause: fmt.Errorf("%s uses it", c.ID),
			})
			p.Requeue(p.Env.Options.ContestInterval)
			continue
		}
		if c := p.replacedBy(m.memberObject); c != nil {
			p.Block(&apply.PruneBlockedError{
				Reason: apply.ReasonReplacementFailed, Objects: []string{m.id.String()},
				Cause: fmt.Errorf("%s: %w", c.ID, c.Result.Err),
			})
			continue
		}
		if m.Result.Verb == apply.VerbPrune && !p.pruneOne(m) {
			continue
		}
		p.Requeue(m.Result.RequeueAfter)
		if m.Result.Err != nil {
			failed.Objects = append(failed.Objects, m.id.String())
			failed.Cause = errors.Unwrap(m.Result.Err)
		}
		p.Result.Objects = append(p.Result.Objects, m.Result)
	}
	if len(failed.Objects) > 0 {
		slices.Sort(failed.Objects)
		p.Block(failed)
	}
	return remaining
}

// blockHeld reports a member that was deleted and that finalizers keep.
func (p *Prune) blockHeld(m memberObject) {
	if len(m.heldBy) == 0 {
		return
	}
	p.Block(&apply.PruneBlockedError{
		Reason: apply.ReasonHeldByFinalizers, Objects: []string{m.id.String()}, Cause: &apply.HeldError{Finalizers: m.heldBy},
	})
}

// pruneOne deletes a member. It reports whether there is something to say of
// it: not of one that was replaced under its name, which is for the next
// listing.
func (p *Prune) pruneOne(m *surplusMember) bool {
	known := p.Memory.Child(m.id)
	err := p.deleteProven(m, known.Ours())
	switch {
	case apierrors.IsConflict(err):
		delete(p.Memory.Children, m.id)
		p.Requeue(pass.ConfirmAfter)
		return false
	case err == nil:
		known.ForgetFailure()
		p.NoteDeleted(m.id, m.uid)
		m.Result.Outcome, m.Result.RequeueAfter = apply.OutcomePruned, pass.ConfirmAfter
		return true
	}
	wait := known.NotDeleted(m.uid, err, p.Now, p.Env.Options.ContestInterval)
	m.Result.Outcome, m.Result.Err, m.Result.RequeueAfter = apply.OutcomeFailed, fmt.Errorf("prune: %w", err), wait
	return true
}

// deleteProven deletes a member in the version in which it was proven to be one.
// In a later version, which a cache does not show at once, it may be somebody
// else's, or taken out of our hands: that is looked at live. It returns the
// conflict if it is not a member any more.
func (p *Prune) deleteProven(m *surplusMember, remembered types.UID) error {
	version := m.version
	for try := 1; ; try++ {
		err := p.Env.DeleteExactly(p.Ctx, m.gvk, m.id.Key, m.uid, version, "")
		if !apierrors.IsConflict(err) || try == write.MaxTries {
			return err
		}
		found, readErr := p.LiveMetadata(m.gvk, m.id.Key)
		switch {
		case readErr != nil || found == nil:
			return readErr
		case found.UID != m.uid || !ownership.Proves(p.Pass, found, remembered) || ownership.OptedOut(p.Pass, found):
			return err
		}
		version = found.ResourceVersion
	}
}

// keepReplaced holds back members whose replacement waits for a condition.
func (p *Prune) keepReplaced(surplus []memberObject) []memberObject {
	return slices.DeleteFunc(surplus, func(m memberObject) bool {
		c := p.replacement(m, func(c *pass.Child) bool { return c.Result.WaitsUntil != "" && c.Live == nil })
		if c == nil || m.deleting {
			return false
		}
		p.held = true
		p.Block(&apply.PruneBlockedError{
			Reason: apply.ReasonReplacementFailed, Objects: []string{m.id.String()},
			Cause: fmt.Errorf("%s waits until %s", c.ID, c.Result.WaitsUntil),
		})
		return true
	})
}

// replacedBy returns the planned child that may be the replacement of a member
// and could not be created, nil if there is none.
func (p *Prune) replacedBy(m memberObject) *pass.Child {
	return p.replacement(m, func(c *pass.Child) bool { return c.Result.Err != nil })
}

// replacement returns the planned child that may be the replacement of a member
// and is missing, nil if there is none: one of the same kind and
// namespace that does not exist, and that no plan of this process has named
// beside the member. A right to something is never kept for another one.
func (p *Prune) replacement(m memberObject, missing func(*pass.Child) bool) *pass.Child {
	if p.Finalize || m.id.GroupKind.Group == "rbac.authorization.k8s.io" {
		return nil
	}
	before := p.Memory.Children[m.id]
	at := slices.IndexFunc(p.Children, func(c *pass.Child) bool {
		return missing(c) && c.ID.GroupKind == m.id.GroupKind && c.ID.Key.Namespace == m.id.Key.Namespace && c.Member &&
			c.Memory != nil && c.Memory.UID() == "" && (before == nil || !c.Memory.PlannedBeside(before))
	})
	if at < 0 {
		return nil
	}
	return p.Children[at]
}
