package memory

import (
	"sync"
	"sync/atomic"
	"time"

	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/intent"
)

// Census lists the members of all sets in the cache once for all owners, by kind. After a start every owner checks for members that its
// plan does not name; each check alone would list all objects of its kinds.
//
// A census can only prove that no members are left over. Engine.Announce marks sets that have got a member since. For these, and if the
// census differs from the plan, the owner lists for itself. So a stale census costs a listing and deletes nothing.
type Census struct {
	// Open reports that there is a census, so that announcements matter.
	Open atomic.Bool

	mu    sync.Mutex
	begun time.Time
	kinds map[*intent.Kind]map[uint64]SetHash

	// changed are the sets that have got a member since. marks guards them separately, because announcements must not wait for a listing
	// of the cache.
	marks   sync.Mutex
	changed map[uint64]struct{}
}

// SetHash represents a set of objects: the exclusive or of their hashes.
type SetHash uint64

// Mark notes that a set has got a member.
func (c *Census) Mark(set uint64) {
	c.marks.Lock()
	defer c.marks.Unlock()
	if c.changed != nil {
		c.changed[set] = struct{}{}
	}
}

// reset discards the census; later announcements are marked.
func (c *Census) reset(now time.Time, open bool) {
	c.marks.Lock()
	defer c.marks.Unlock()
	c.begun, c.kinds, c.changed = now, nil, nil
	if open {
		c.kinds, c.changed = map[*intent.Kind]map[uint64]SetHash{}, map[uint64]struct{}{}
	}
	c.Open.Store(open)
}

func (c *Census) hasChanged(set uint64) bool {
	c.marks.Lock()
	defer c.marks.Unlock()
	_, changed := c.changed[set]
	return changed
}

// Scanned returns the hash of the set in the census. It returns false if the hash is unknown or the set has changed since. scan lists all
// members of the kind.
func (c *Census) Scanned(k *intent.Kind, set uint64, now time.Time, scan func(*intent.Kind) (map[uint64]SetHash, error)) (SetHash, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.kinds == nil || now.Sub(c.begun) > SettleTime {
		c.reset(now, true)
	}
	hashes := c.kinds[k]
	if hashes == nil {
		var err error
		if hashes, err = scan(k); err != nil {
			return 0, false // the listing of the owner reports it
		}
		c.kinds[k] = hashes
	}
	return hashes[set], !c.hasChanged(set)
}

// Expire releases the memory of a census that has not been used for a while.
func (c *Census) Expire(now time.Time) {
	if !c.Open.Load() {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if now.Sub(c.begun) > SettleTime {
		c.reset(now, false)
	}
}

// SettleTime is how long after a restart every pass lists its kinds, because a cache may start from an old state. Listings of planned
// kinds come from the cache and cost no request, and owners share one if possible.
const SettleTime = time.Minute
