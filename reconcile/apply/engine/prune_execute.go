package engine

import (
	"errors"
	"fmt"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"

	"github.com/reconcilekit/reconcilekit/reconcile/apply"
)

// pruneAll deletes the surplus, except the objects that are deleted last. It reports whether some of it may still exist.
func (p *pruning) pruneAll() (remaining bool) {
	return p.pruneThose(func(m *surplusMember) bool { return !p.last(m.memberObject) })
}

// pruneLast deletes the objects that cannot be gone before the owner. It reports whether a deletion was not accepted.
func (p *pruning) pruneLast() (remaining bool) {
	p.pruneThose(p.deletedLast)
	return slices.ContainsFunc(p.surplus, func(m *surplusMember) bool {
		return p.deletedLast(m) && m.result.Outcome != apply.OutcomePruned
	})
}

func (p *pruning) pruneThose(meant func(*surplusMember) bool) (remaining bool) {
	failed := &apply.PruneBlockedError{Reason: apply.ReasonPruneFailed}
	for _, m := range p.surplus {
		if !meant(m) {
			continue
		}
		remaining = true
		if m.result.Reason == apply.ReasonWaiting {
			p.requeue(confirmAfter)
			continue
		}
		if m.result.Reason == apply.ReasonTerminating {
			p.blockHeld(m.memberObject)
			p.requeue(confirmAfter)
			continue
		}
		if c := p.referrer(m.memberObject); c != nil {
			p.block(&apply.PruneBlockedError{
				Reason: apply.ReasonReferenced, Objects: []string{m.id.String()}, Cause: fmt.Errorf("%s uses it", c.id),
			})
			p.requeue(p.env.options.ContestInterval)
			continue
		}
		if c := p.replacedBy(m.memberObject); c != nil {
			p.block(&apply.PruneBlockedError{
				Reason: apply.ReasonReplacementFailed, Objects: []string{m.id.String()},
				Cause: notReplacing(c),
			})
			continue
		}
		if m.result.Verb == apply.VerbPrune && !p.pruneOne(m) {
			continue
		}
		p.requeue(m.result.RequeueAfter)
		if m.result.Err != nil {
			failed.Objects = append(failed.Objects, m.id.String())
			failed.Cause = errors.Unwrap(m.result.Err)
		}
		p.result.Objects = append(p.result.Objects, m.result)
	}
	if len(failed.Objects) > 0 {
		slices.Sort(failed.Objects)
		p.block(failed)
	}
	return remaining
}

// blockHeld reports a deleted member that finalizers keep.
func (p *pruning) blockHeld(m memberObject) {
	if len(m.heldBy) == 0 {
		return
	}
	p.block(&apply.PruneBlockedError{
		Reason: apply.ReasonHeldByFinalizers, Objects: []string{m.id.String()}, Cause: &apply.HeldError{Finalizers: m.heldBy},
	})
}

// pruneOne deletes a member. It reports whether the result is worth reporting. A member that was replaced under its name is not; the next
// listing finds the replacement.
func (p *pruning) pruneOne(m *surplusMember) bool {
	known := p.memory.Child(m.id)
	err := p.deleteProven(m, known.Ours())
	switch {
	case apierrors.IsConflict(err):
		delete(p.memory.Children, m.id)
		p.requeue(confirmAfter)
		return false
	case err == nil:
		known.ForgetFailure()
		p.noteDeleted(m.id, m.uid)
		m.result.Outcome, m.result.RequeueAfter = apply.OutcomePruned, confirmAfter
		return true
	}
	wait := known.NotDeleted(m.uid, err, p.now, p.env.options.ContestInterval)
	m.result.Outcome, m.result.Err, m.result.RequeueAfter = apply.OutcomeFailed, fmt.Errorf("prune: %w", err), wait
	return true
}

// deleteProven deletes a member, pinned to the version in which its membership was proven. A later version may belong to another owner or
// have opted out, so it is checked with a live read. deleteProven returns the conflict if the object is no longer a member.
func (p *pruning) deleteProven(m *surplusMember, remembered types.UID) error {
	if err := p.confirmSet(m.memberObject); err != nil {
		return err
	}
	version := m.version
	for try := 1; ; try++ {
		err := p.env.deleteExactly(p.ctx, m.gvk, m.id.Key, m.uid, version, "")
		if !apierrors.IsConflict(err) || try == maxTries {
			return err
		}
		found, readErr := p.liveMetadata(m.gvk, m.id.Key)
		switch {
		case readErr != nil || found == nil:
			return readErr
		case found.UID != m.uid || !p.provesMember(found, remembered) || p.optedOut(found):
			return err
		}
		version = found.ResourceVersion
	}
}

// replacedBy returns the planned child that may be the replacement of a member and could not be created, nil if there is none.
func (p *pruning) replacedBy(m memberObject) *child {
	if p.finalize {
		return nil
	}
	return replacement(p.children, m, func(c *child) bool { return c.result.Err != nil || c.result.WaitsUntil != "" })
}

// notReplacing is why a planned child was not created.
func notReplacing(c *child) error {
	if c.result.Err != nil {
		return fmt.Errorf("%s: %w", c.id, c.result.Err)
	}
	return fmt.Errorf("%s waits until %s", c.id, c.result.WaitsUntil)
}
