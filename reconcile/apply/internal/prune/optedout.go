package prune

import (
	"github.com/reconcilekit/reconcilekit/reconcile/apply"
	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/memory"
	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/ownership"
)

// noteOptedOut remembers the members that are not planned and that are opted out.
// Their kinds stay in the inventory, so that they are found when they are opted in.
func (p *Prune) noteOptedOut(l *listing) {
	p.Memory.Prune.OptedOut = nil
	for i := range l.members {
		if m := &l.members[i]; m.optedOut && !m.planned && !p.KeepsKind(m.id.GroupKind) {
			l.open[m.id.GroupKind] = struct{}{}
			p.Memory.Prune.OptedOut = append(p.Memory.Prune.OptedOut, memory.Member{GVK: m.gvk, ID: m.id, UID: m.uid})
		}
	}
}

// optedIn reports whether a listing is due for a member that was opted out when it left
// the plan: the cache shows that it is opted in, or its kind is not in the cache and the
// last listing is long ago.
func (p *Prune) optedIn() bool {
	if len(p.Memory.Prune.OptedOut) == 0 {
		return false
	}
	planned := p.plannedKinds()
	for _, m := range p.Memory.Prune.OptedOut {
		declared, ok := p.Env.Declared[m.ID.GroupKind]
		if k := planned[m.ID.GroupKind]; k == nil && (!ok || declared.Use != apply.KindOwned) {
			if p.Now.Sub(p.Memory.Prune.At) >= listingPeriod {
				return true
			}
			continue
		}
		k, err := p.Env.Kinds.OfGVK(m.GVK)
		if err != nil {
			continue
		}
		o := k.NewObject()
		if err := p.Env.Client.Get(p.Ctx, m.ID.Key, o, p.Env.Cached...); err == nil && o.GetUID() == m.UID && !ownership.OptedOut(p.Pass, o) {
			return true
		}
	}
	return false
}
