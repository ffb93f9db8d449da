package apply

import (
	"fmt"
	"hash/maphash"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/applyset"

	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/content"
)

// census is one look at the cache for all owners: which members each set has,
// kind by kind. After a start every owner asks whether members are left over
// that its plan does not name; each for itself would walk over all objects of
// its kinds.
//
// It only ever answers "none are left over". Sets that have got a member since
// are marked by [Engine.Announce]; for these, and wherever the census does not
// show exactly what is planned, the owner lists for itself. So an old census
// costs a listing and deletes nothing.
type census struct {
	// open reports that there is a census, so that announcements count.
	open atomic.Bool

	mu    sync.Mutex
	begun time.Time
	kinds map[*kind]map[uint64]tally

	// changed are the sets that have got a member since; marks guards them, as
	// nobody who announces may wait for a walk over the cache.
	marks   sync.Mutex
	changed map[uint64]struct{}
}

// tally stands for a set of objects: the exclusive or of their hashes.
type tally uint64

// Announce tells the engine that an object has come into its cache (before is
// nil) or has changed there. It must be called for every object with
// [PartOfLabel] before the events that lead to a pass for its owner, and only
// matters with [Options.Announced]. It is cheap.
func (e *Engine) Announce(before, after client.Object) {
	if !e.census.open.Load() || after == nil {
		return
	}
	id := after.GetLabels()[PartOfLabel]
	if id == "" {
		return
	}
	if before != nil && before.GetUID() == after.GetUID() && before.GetLabels()[PartOfLabel] == id {
		return
	}
	c := &e.census
	c.marks.Lock()
	defer c.marks.Unlock()
	if c.changed != nil {
		c.changed[e.hasher.Text(id)] = struct{}{}
	}
}

// reset forgets what was counted; whatever is announced from now on is marked.
func (c *census) reset(now time.Time, open bool) {
	c.marks.Lock()
	defer c.marks.Unlock()
	c.begun, c.kinds, c.changed = now, nil, nil
	if open {
		c.kinds, c.changed = map[*kind]map[uint64]tally{}, map[uint64]struct{}{}
	}
	c.open.Store(open)
}

func (c *census) hasChanged(set uint64) bool {
	c.marks.Lock()
	defer c.marks.Unlock()
	_, changed := c.changed[set]
	return changed
}

// noneLeftOver says for sure that all members of the set are planned, without
// a walk of its own over the cache. False says nothing.
func (p *pass) noneLeftOver() bool {
	if !p.engine.opts.Announced || p.finalize {
		return false
	}
	recorded := p.recorded()
	if recorded.Garbled() || p.memory.metadata.lost || p.hasUnknown(recorded) {
		return false
	}
	for _, m := range p.memory.children {
		if m.pass != p.memory.pass {
			return false // it was ours a moment ago
		}
	}
	planned, tallies := p.plannedKinds(), p.tallies()
	for _, gk := range p.searchedKinds(recorded, planned) {
		k, cached := p.cachedKind(gk, planned, recorded)
		if !cached || p.engine.newList(k) == nil {
			return false // not in the cache
		}
		found, ok := p.counted(k)
		if !ok || found != tallies[k] {
			return false
		}
	}
	return true
}

// hasUnknown reports whether the inventory has a kind of which it is not known
// what is wanted.
func (p *pass) hasUnknown(recorded *applyset.Inventory) bool {
	return slices.ContainsFunc(recorded.Kinds, func(gk schema.GroupKind) bool { return p.unknown[gk] != nil })
}

// tallies are the planned members that the cache shows.
func (p *pass) tallies() map[*kind]tally {
	out := map[*kind]tally{}
	for _, c := range p.children {
		if c.live == nil || !c.member() || c.live.GetLabels()[PartOfLabel] != p.id {
			continue
		}
		out[c.kind] ^= p.engine.hasher.member(c.live)
	}
	return out
}

// counted returns what the census has found of the set, and false if it does
// not know or if the set has changed since.
func (p *pass) counted(k *kind) (tally, bool) {
	c := &p.engine.census
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.kinds == nil || p.now.Sub(c.begun) > settleTime {
		c.reset(p.now, true)
	}
	tallies := c.kinds[k]
	if tallies == nil {
		var err error
		if tallies, err = p.countAll(k); err != nil {
			return 0, false // the listing of the owner says it
		}
		c.kinds[k] = tallies
	}
	set := p.engine.hasher.Text(p.id)
	return tallies[set], !c.hasChanged(set)
}

// countAll walks over all members of all sets, in all namespaces.
func (p *pass) countAll(k *kind) (map[uint64]tally, error) {
	list := p.engine.newList(k)
	opts := append([]client.ListOption{client.HasLabels{PartOfLabel}}, p.engine.cachedList...)
	if err := p.engine.client.List(p.ctx, list, opts...); err != nil {
		return nil, fmt.Errorf("list all %s: %w", k.gvk.GroupKind(), err)
	}
	out := map[uint64]tally{}
	err := meta.EachListItem(list, func(o runtime.Object) error {
		m, err := meta.Accessor(o)
		if err != nil {
			return err
		}
		out[p.engine.hasher.Text(m.GetLabels()[PartOfLabel])] ^= p.engine.hasher.member(m)
		return nil
	})
	return out, err
}

// expire releases the memory of a census that nobody has asked for a while.
func (c *census) expire(now time.Time) {
	if !c.open.Load() {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if now.Sub(c.begun) > settleTime {
		c.reset(now, false)
	}
}

// member is the hash of an object's identity.
func (h *hasher) member(o metav1.Object) tally {
	return tally(h.Sum(func(s *maphash.Hash) {
		content.WriteString(s, o.GetNamespace())
		content.WriteString(s, o.GetName())
		content.WriteString(s, string(o.GetUID()))
	}))
}
