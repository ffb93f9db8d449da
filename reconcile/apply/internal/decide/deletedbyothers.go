package decide

import (
	"time"

	"github.com/reconcilekit/reconcilekit/reconcile/apply"
	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/memory"
	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/pass"
)

const (
	// soonDeleted is how long a child has to live so that its deletion counts
	// for nothing: after maxRepairs shorter lives it is left alone for a while.
	soonDeleted = 30 * time.Second
	// longestPause bounds that while: people and test-suites delete a child
	// again and again to see it come back, and do so within a minute.
	longestPause = 30 * time.Second
)

// deletedByOthers counts that a child is gone that was there and that we have not
// deleted. It reports whether the child is left alone for now.
func deletedByOthers(p *pass.Pass, c *pass.Child) bool {
	m, limit := c.Memory, min(longestPause, p.Env.Options.ContestInterval)
	if m.UID != "" && m.Deleted == "" {
		if m.DeletedByOthers == nil || p.Now.Sub(m.DeletedByOthers.Made) > soonDeleted+m.DeletedByOthers.Pause(limit) {
			m.DeletedByOthers = &memory.DeletedByOthers{}
		}
		if m.DeletedByOthers.Count++; m.DeletedByOthers.Count > memory.MaxRepairs {
			m.DeletedByOthers.Until = p.Now.Add(m.DeletedByOthers.Pause(limit))
		}
	}
	d := m.DeletedByOthers
	if d == nil || d.Count <= memory.MaxRepairs || !p.Now.Before(d.Until) {
		return false
	}
	c.Fail(apply.Contested, apply.ReasonContested, &apply.DeletedByOthersError{
		Kind: c.ID.GroupKind.Kind, Namespace: c.ID.Key.Namespace, Name: c.ID.Key.Name, Times: d.Count,
	})
	c.Requeue = d.Until.Sub(p.Now)
	return true
}
