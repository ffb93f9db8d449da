package memory

import (
	"sync"
	"sync/atomic"
	"time"

	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/intent"
)

// Census is one walk over the cache for all owners: which members each set has,
// kind by kind. After a start every owner asks whether members are left over
// that its plan does not name; each for itself would walk over all objects of
// its kinds.
//
// It only ever answers "none are left over". Sets that have got a member since
// are marked by Engine.Announce; for these, and wherever the census does not
// show exactly what is planned, the owner lists for itself. So an old census
// costs a listing and deletes nothing.
type Census struct {
	// Open reports that there is a census, so that announcements count.
	Open atomic.Bool

	mu    sync.Mutex
	begun time.Time
	kinds map[*intent.Kind]map[uint64]SetHash

	// changed are the sets that have got a member since; marks guards them, as
	// nobody who announces may wait for a walk over the cache.
	marks   sync.Mutex
	changed map[uint64]struct{}
}

// SetHash stands for a set of objects: the exclusive or of their hashes.
type SetHash uint64

// Mark notes that a set has got a member.
func (c *Census) Mark(set uint64) {
	c.marks.Lock()
	defer c.marks.Unlock()
	if c.changed != nil {
		c.changed[set] = struct{}{}
	}
}

// reset forgets what was counted; whatever is announced from now on is marked.
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

// Scanned returns what the scan has found of the set, and false if it does
// not know or if the set has changed since. scan walks over all members of the
// kind.
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

// Expire releases the memory of a census that nobody has asked for a while.
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

// SettleTime is how long after a restart every pass lists, as a cache may start
// from an old state. Listings of planned kinds come from the cache and cost no
// request, and owners share one where they can.
const SettleTime = time.Minute
