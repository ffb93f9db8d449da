package engine

import (
	"time"

	"github.com/reconcilekit/reconcilekit/reconcile/apply"
	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/memory"
)

const (
	// soonDeleted is how long a child has to live so that its deletion counts
	// for nothing: after maxRepairs shorter lives it is left alone for a while.
	soonDeleted = 30 * time.Second
	// longestPause bounds that while: people and test-suites delete a child
	// again and again to see it come back, and do so within a minute.
	longestPause = 30 * time.Second
)

// vanished counts that a child is gone that was there and that we have not
// deleted. It reports whether the child is left alone for now.
func (p *pass) vanished(c *planned) bool {
	m, limit := c.memory, min(longestPause, p.engine.opts.ContestInterval)
	if m.UID != "" && m.Deleted == "" {
		if m.DeletedByOthers == nil || p.now.Sub(m.DeletedByOthers.Made) > soonDeleted+m.DeletedByOthers.Pause(limit) {
			m.DeletedByOthers = &memory.DeletedByOthers{}
		}
		if m.DeletedByOthers.Count++; m.DeletedByOthers.Count > memory.MaxRepairs {
			m.DeletedByOthers.Until = p.now.Add(m.DeletedByOthers.Pause(limit))
		}
	}
	d := m.DeletedByOthers
	if d == nil || d.Count <= memory.MaxRepairs || !p.now.Before(d.Until) {
		return false
	}
	c.fail(apply.Contested, apply.ReasonContested, &apply.DeletedByOthersError{
		Kind: c.id.GroupKind.Kind, Namespace: c.id.Key.Namespace, Name: c.id.Key.Name, Times: d.Count,
	})
	c.requeue = d.Until.Sub(p.now)
	return true
}
