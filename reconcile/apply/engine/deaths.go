package engine

import (
	"time"

	"github.com/reconcilekit/reconcilekit/reconcile/apply"
)

// deaths counts how often others have deleted a child soon after it was made.
type deaths struct {
	count int
	// made is when the child was last made, until when it is left alone.
	made, until time.Time
}

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
	if m.uid != "" && m.deleted == "" {
		if m.deaths == nil || p.now.Sub(m.deaths.made) > soonDeleted+m.deaths.pause(limit) {
			m.deaths = &deaths{}
		}
		if m.deaths.count++; m.deaths.count > maxRepairs {
			m.deaths.until = p.now.Add(m.deaths.pause(limit))
		}
	}
	d := m.deaths
	if d == nil || d.count <= maxRepairs || !p.now.Before(d.until) {
		return false
	}
	c.fail(apply.Contested, apply.ReasonContested, &apply.DeletedByOthersError{
		Kind: c.id.GroupKind.Kind, Namespace: c.id.Key.Namespace, Name: c.id.Key.Name, Times: d.count,
	})
	c.requeue = d.until.Sub(p.now)
	return true
}

// pause is how long the child is left alone after so many deaths, at most limit.
func (d *deaths) pause(limit time.Duration) time.Duration {
	if d.count <= maxRepairs {
		return 0
	}
	return backoff(d.count-maxRepairs-1, limit)
}

// born notes that the child was made.
func (m *childMemory) born(now time.Time) {
	if m.deaths == nil {
		m.deaths = &deaths{}
	}
	m.deaths.made = now
}
