package engine

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

	"github.com/reconcilekit/reconcilekit/reconcile/apply"
	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/applyset"
	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/content"
	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/intent"
	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/kinds"
)

// leftoverScan is one walk over the cache for all owners: which members each set has,
// kind by kind. After a start every owner asks whether members are left over
// that its plan does not name; each for itself would walk over all objects of
// its kinds.
//
// It only ever answers "none are left over". Sets that have got a member since
// are marked by [Engine.Announce]; for these, and wherever the census does not
// show exactly what is planned, the owner lists for itself. So an old census
// costs a listing and deletes nothing.
type leftoverScan struct {
	// open reports that there is a census, so that announcements count.
	open atomic.Bool

	mu    sync.Mutex
	begun time.Time
	kinds map[*kinds.Kind]map[uint64]memberHash

	// changed are the sets that have got a member since; marks guards them, as
	// nobody who announces may wait for a walk over the cache.
	marks   sync.Mutex
	changed map[uint64]struct{}
}

// memberHash stands for a set of objects: the exclusive or of their hashes.
type memberHash uint64

// mark notes that a set has got a member.
func (c *leftoverScan) mark(set uint64) {
	c.marks.Lock()
	defer c.marks.Unlock()
	if c.changed != nil {
		c.changed[set] = struct{}{}
	}
}

// reset forgets what was counted; whatever is announced from now on is marked.
func (c *leftoverScan) reset(now time.Time, open bool) {
	c.marks.Lock()
	defer c.marks.Unlock()
	c.begun, c.kinds, c.changed = now, nil, nil
	if open {
		c.kinds, c.changed = map[*kinds.Kind]map[uint64]memberHash{}, map[uint64]struct{}{}
	}
	c.open.Store(open)
}

func (c *leftoverScan) hasChanged(set uint64) bool {
	c.marks.Lock()
	defer c.marks.Unlock()
	_, changed := c.changed[set]
	return changed
}

// noneLeftOver says for sure that all members of the set are planned, without
// a walk of its own over the cache. False says nothing.
func (p *pruner) noneLeftOver() bool {
	if !p.engine.opts.Announced || p.finalize {
		return false
	}
	recorded := p.recorded()
	if recorded.Garbled() || p.memory.Metadata.Lost || p.hasUnknown(recorded) {
		return false
	}
	for _, m := range p.memory.Children {
		if m.Pass != p.memory.Pass {
			return false // it was ours a moment ago
		}
	}
	planned, hashes, set := p.plannedKinds(), p.memberHashes(), p.engine.hasher.Text(p.id)
	for _, gk := range p.searchedKinds(recorded, planned) {
		k, cached := p.cachedKind(gk, planned, recorded)
		if !cached || p.engine.newList(k) == nil {
			return false // not in the cache
		}
		found, ok := p.engine.leftovers.scanned(k, set, p.now, p.scanAll)
		if !ok || found != hashes[k] {
			return false
		}
	}
	return true
}

// hasUnknown reports whether the inventory has a kind of which it is not known
// what is wanted.
func (p *pruner) hasUnknown(recorded *applyset.Inventory) bool {
	return slices.ContainsFunc(recorded.Kinds, func(gk schema.GroupKind) bool { return p.unknown[gk] != nil })
}

// memberHashes are the planned members that the cache shows.
func (p *pruner) memberHashes() map[*kinds.Kind]memberHash {
	out := map[*kinds.Kind]memberHash{}
	for _, c := range p.children {
		if c.live == nil || !c.member() || c.live.GetLabels()[apply.PartOfLabel] != p.id {
			continue
		}
		out[c.kind] ^= member(p.engine.hasher, c.live)
	}
	return out
}

// scanned returns what the scan has found of the set, and false if it does
// not know or if the set has changed since. scan walks over all members of the
// kind.
func (c *leftoverScan) scanned(k *kinds.Kind, set uint64, now time.Time, scan func(*kinds.Kind) (map[uint64]memberHash, error)) (memberHash, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.kinds == nil || now.Sub(c.begun) > settleTime {
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

// scanAll walks over all members of all sets, in all namespaces.
func (p *pruner) scanAll(k *kinds.Kind) (map[uint64]memberHash, error) {
	list := p.engine.newList(k)
	opts := append([]client.ListOption{client.HasLabels{apply.PartOfLabel}}, p.engine.cachedList...)
	if err := p.engine.client.List(p.ctx, list, opts...); err != nil {
		return nil, fmt.Errorf("list all %s: %w", k.GVK.GroupKind(), err)
	}
	out := map[uint64]memberHash{}
	err := meta.EachListItem(list, func(o runtime.Object) error {
		m, err := meta.Accessor(o)
		if err != nil {
			return err
		}
		out[p.engine.hasher.Text(m.GetLabels()[apply.PartOfLabel])] ^= member(p.engine.hasher, m)
		return nil
	})
	return out, err
}

// expire releases the memory of a census that nobody has asked for a while.
func (c *leftoverScan) expire(now time.Time) {
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
func member(h *intent.Hasher, o metav1.Object) memberHash {
	return memberHash(h.Sum(func(s *maphash.Hash) {
		content.WriteString(s, o.GetNamespace())
		content.WriteString(s, o.GetName())
		content.WriteString(s, string(o.GetUID()))
	}))
}
