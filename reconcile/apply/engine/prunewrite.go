package engine

import (
	"errors"
	"fmt"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/reconcilekit/reconcilekit/reconcile/apply"
	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/memory"
	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/order"
)

func newUnstructuredList(gvk schema.GroupVersionKind) *unstructured.UnstructuredList {
	list := &unstructured.UnstructuredList{}
	list.SetGroupVersionKind(gvk)
	return list
}

// notPlanned returns the members that are no longer planned and ours to delete.
func (p *pruner) notPlanned(members []memberObject) []memberObject {
	if p.orphans() {
		return nil
	}
	var out []memberObject
	for _, m := range members {
		planned := m.planned && (!p.finalize || p.plan.Hold) // without a hold nothing outlives the owner
		if planned || m.optedOut || (p.finalize && m.reached) {
			continue
		}
		out = append(out, m)
	}
	slices.SortStableFunc(out, func(a, b memberObject) int { return order.Rank(b.id.GroupKind) - order.Rank(a.id.GroupKind) })
	return out
}

// surplusMember is a member that is no longer planned.
type surplusMember struct {
	memberObject
	result apply.ObjectResult
}

// decideMember decides whether a member is deleted now: not while that is
// under way, or was refused a moment ago.
func (p *pruner) decideMember(m memberObject) *surplusMember {
	s := &surplusMember{memberObject: m, result: apply.ObjectResult{Outcome: apply.Unchanged, Decision: apply.Decision{
		GVK: m.gvk, Key: m.id.Key, UID: m.uid, Verb: apply.VerbNone, Reason: apply.ReasonTerminating,
	}, HoldsData: p.engine.holdsData(m.id.GroupKind)}}
	if m.deleting || p.deletedAlready(m.id, m.uid) {
		return s
	}
	known := p.memory.Child(m.id)
	known.GVK = m.gvk
	if t := known.Failure; t.Stands(0, m.uid, 0, p.now) {
		s.result.Reason, s.result.Outcome, s.result.Err = apply.ReasonBackoff, apply.Failed, fmt.Errorf("prune: %w", t.Err)
		s.result.RequeueAfter = t.Until.Sub(p.now)
		return s
	}
	s.result.Verb, s.result.Reason = apply.VerbPrune, apply.ReasonNotPlanned
	return s
}

// pruneAll deletes the surplus and reports whether some of it is still there.
func (p *pruner) pruneAll() (remaining bool) {
	failed := &apply.PruneBlockedError{Reason: apply.PruneFailed}
	for _, m := range p.surplus {
		remaining = true
		if m.result.Reason == apply.ReasonTerminating {
			p.requeue(confirmAfter)
			continue
		}
		if c := p.replacedBy(m.memberObject); c != nil {
			p.block(&apply.PruneBlockedError{Reason: apply.PruneReplacing, Objects: []string{m.id.String()},
				Cause: fmt.Errorf("%s: %w", c.id, c.result.Err)})
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

// pruneOne deletes a member. It reports whether there is something to say of
// it: not of one that was replaced under its name, which is for the next
// listing.
func (p *pruner) pruneOne(m *surplusMember) bool {
	known := p.memory.Child(m.id)
	err := p.engine.deleteExactly(p.ctx, m.gvk, m.id.Key, m.uid, "", "")
	switch {
	case apierrors.IsConflict(err):
		delete(p.memory.Children, m.id)
		p.requeue(confirmAfter)
		return false
	case err == nil:
		known.Failure = nil
		p.noteDeleted(m.id, m.uid)
		m.result.Outcome, m.result.RequeueAfter = apply.Pruned, confirmAfter
		return true
	}
	count := 0
	if t := known.Failure; t != nil && t.UID == m.uid && t.Intent == 0 {
		count = t.Count
	}
	wait := memory.Backoff(count, p.engine.opts.ContestInterval)
	known.Failure = &memory.Failure{Err: err, UID: m.uid, Count: count + 1, Until: p.now.Add(wait)}
	m.result.Outcome, m.result.Err, m.result.RequeueAfter = apply.Failed, fmt.Errorf("prune: %w", err), wait
	return true
}

// replacedBy returns the planned child that may be the replacement of a member
// and could not be created, nil if there is none: one of the same kind and
// namespace that does not exist, and that no plan of this process has named
// beside the member. A right to something is never kept for another one.
func (p *pruner) replacedBy(m memberObject) *planned {
	if p.finalize || m.id.GroupKind.Group == "rbac.authorization.k8s.io" {
		return nil
	}
	before := p.memory.Children[m.id]
	at := slices.IndexFunc(p.children, func(c *planned) bool {
		return c.result.Err != nil && c.id.GroupKind == m.id.GroupKind && c.id.Key.Namespace == m.id.Key.Namespace && c.member() &&
			c.memory != nil && c.memory.UID == "" && (before == nil || before.Last < c.memory.Since)
	})
	if at < 0 {
		return nil
	}
	return p.children[at]
}

// dropForgotten releases the memory of objects that are gone.
func (p *pruner) dropForgotten() {
	for id, m := range p.memory.Children {
		if m.Pass != p.memory.Pass {
			delete(p.memory.Children, id)
		}
	}
}
