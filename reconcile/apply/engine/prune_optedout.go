package engine

import (
	"github.com/reconcilekit/reconcilekit/reconcile/apply"
	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/memory"
)

// noteOptedOut remembers the unplanned members that have opted out. Their kinds stay in the inventory, so that the members are found when
// they opt in.
func (p *pruning) noteOptedOut(l *listing) {
	p.memory.Prune.OptedOut = nil
	for i := range l.members {
		if m := &l.members[i]; m.optedOut && !m.planned && !p.keepsKind(p.plan, m.id.GroupKind) {
			l.open[m.id.GroupKind] = struct{}{}
			p.memory.Prune.OptedOut = append(p.memory.Prune.OptedOut, memory.Member{GVK: m.gvk, ID: m.id, UID: m.uid})
		}
	}
}

// optedIn reports whether a listing is due for a member that had opted out when it left the plan: the cache shows that it has opted in, or
// its kind is not cached and the last listing is old.
func (p *pruning) optedIn() bool {
	if len(p.memory.Prune.OptedOut) == 0 {
		return false
	}
	planned := p.plannedKinds()
	for _, m := range p.memory.Prune.OptedOut {
		declared, ok := p.env.declared[m.ID.GroupKind]
		if k := planned[m.ID.GroupKind]; k == nil && (!ok || declared.Use != apply.KindOwned) {
			if p.now.Sub(p.memory.Prune.At) >= listingPeriod {
				return true
			}
			continue
		}
		k, err := p.env.kinds.OfGVK(m.GVK)
		if err != nil {
			continue
		}
		o := k.NewObject()
		if err := p.env.client.Get(p.ctx, m.ID.Key, o, p.env.cached...); err == nil && o.GetUID() == m.UID && !p.optedOut(o) {
			return true
		}
	}
	return false
}
