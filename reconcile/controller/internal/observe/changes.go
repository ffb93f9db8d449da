package observe

import (
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/reconcilekit/reconcilekit/reconcile"
)

// changes has the owners that were created or whose spec has changed since this process leads, until they are ready. Its memory is bounded
// by their number. A change that an earlier process has seen is not known. The zero value is ready.
type changes struct {
	mu     sync.Mutex
	owners map[types.NamespacedName]change
}

// change is the generation of an owner, and the time of its event.
type change struct {
	generation int64
	at         time.Time
}

// note records an event of the owner. It replaces that of another generation.
func (c *changes) note(owner types.NamespacedName, generation int64, now time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if before, known := c.owners[owner]; known && before.generation == generation {
		return
	}
	if c.owners == nil {
		c.owners = map[types.NamespacedName]change{}
	}
	c.owners[owner] = change{generation, now}
}

// done returns how long the owner took to become ready with the last change, and whether it has just done so. An owner that is deleted or
// paused is no longer waited for.
func (c *changes) done(report *reconcile.Report, now time.Time) (took time.Duration, ready bool) {
	owner := report.Request.NamespacedName
	c.mu.Lock()
	defer c.mu.Unlock()
	changed, known := c.owners[owner]
	ready = known && report.Ready && report.Generation >= changed.generation
	if ready || report.Gone || report.Paused {
		delete(c.owners, owner)
	}
	return now.Sub(changed.at), ready
}
