package engine

import (
	"maps"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/reconcilekit/reconcilekit/reconcile/apply"
	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/applyset"
	"github.com/reconcilekit/reconcilekit/reconcile/internal/freshness"
)

// childMemory is what is remembered about one child: a few hundred bytes.
type childMemory struct {
	// gvk and mode are those of the last plan.
	gvk  schema.GroupVersionKind
	mode apply.Mode
	// intent is the hash of the intent that was proven or applied, version
	// the resourceVersion that it was proven with, projection the hash of
	// our fields in it. proven is false when they say nothing.
	proven     bool
	intent     uint64
	version    string
	projection uint64
	// shape is the projection by the intent's own shape, for caches without
	// managedFields.
	shape uint64
	// owned are our fields in that version.
	owned ownedFields
	// again counts the applies of the intent that the server has not taken as
	// they are.
	again int
	// uid is the object last seen or written.
	uid types.UID
	// ours is the object that was proven to be a child of the owner.
	ours types.UID
	// written is our last write, until the cache shows it.
	written freshness.Write
	// deleted is the UID of an object whose deletion was accepted, deletedAt
	// when it was.
	deleted   types.UID
	deletedAt time.Time
	// pass is the last pass that planned the child, or deleted it.
	pass uint64
	// since and last are the first and the last of the passes in a row that
	// planned it.
	since, last uint64
	// deaths are counted for an object that others delete.
	deaths *deaths
	// trouble is set while something is wrong.
	trouble *trouble
	// contest is set while fields are left to others, repairs counts those
	// of single fields.
	contest *contest
	repairs map[string]repairs
}

// becomes notes that the child is planned in another mode or version. What one
// mode has shown about the object proves nothing for another one.
func (m *childMemory) becomes(mode apply.Mode, gvk schema.GroupVersionKind) {
	if m.mode != mode {
		m.uid, m.owned = "", ownedFields{}
		if mode != apply.Own && mode != apply.Once {
			m.ours = ""
		}
	}
	m.mode, m.gvk, m.proven = mode, gvk, false
}

// wrote remembers a write and forgets what was proven before it.
func (m *childMemory) wrote(o client.Object, now time.Time) {
	m.uid = o.GetUID()
	m.written = freshness.Wrote(o.GetResourceVersion(), now)
	m.deleted = ""
}

// mostAgain is how often an intent is applied again that the server does not
// take as it is.
const mostAgain = 2

// answered learns whether the answer to an apply can be the last word about the
// intent; otherwise the same is applied again.
func (m *childMemory) answered(final bool) {
	if final || m.again >= mostAgain {
		m.again = 0
		return
	}
	m.again++
	m.proven = false
}

// shown forgets our last write: the cache has it, or it says nothing any more.
func (m *childMemory) shown() { m.written = freshness.Write{} }

// noteDeleted remembers an accepted deletion, for a cache that shows the object
// for some time yet.
func (m *childMemory) noteDeleted(uid types.UID, now time.Time) {
	m.deleted, m.deletedAt = uid, now
	m.shown()
}

// deletedRecently reports whether the deletion of this object was accepted so
// recently that a cache may still show it.
func (m *childMemory) deletedRecently(uid types.UID, now time.Time, deadline time.Duration) bool {
	return m.deleted != "" && m.deleted == uid && now.Sub(m.deletedAt) < deadline
}

// ownerMemory is what is remembered about one owner.
type ownerMemory struct {
	mu       sync.Mutex
	uid      types.UID
	key      types.NamespacedName
	pass     uint64
	children map[applyset.ObjectID]*childMemory
	metadata metadataMemory
	sets     setMemory
	// contributor is the field manager of contributions.
	contributor string
	prune       pruneMemory
	guard       guardMemory
}

// clone copies the memory, for a pass that is not carried out.
func (o *ownerMemory) clone() *ownerMemory {
	o.mu.Lock()
	defer o.mu.Unlock()
	out := &ownerMemory{
		uid: o.uid, key: o.key, pass: o.pass, metadata: o.metadata, sets: o.sets, contributor: o.contributor, prune: o.prune, guard: o.guard,
		children: make(map[applyset.ObjectID]*childMemory, len(o.children)),
	}
	out.prune.empty, out.prune.absent = maps.Clone(o.prune.empty), maps.Clone(o.prune.absent)
	for id, m := range o.children {
		copied := *m
		if m.trouble != nil {
			t := *m.trouble
			copied.trouble = &t
		}
		copied.repairs = maps.Clone(m.repairs)
		if m.deaths != nil {
			d := *m.deaths
			copied.deaths = &d
		}
		out.children[id] = &copied
	}
	return out
}

// child returns the memory of a child, made when needed.
func (o *ownerMemory) child(id applyset.ObjectID) *childMemory {
	m := o.children[id]
	if m == nil {
		m = &childMemory{}
		o.children[id] = m
	}
	return m
}

// memory holds the owners.
type memory struct {
	mu     sync.Mutex
	owners map[types.UID]*ownerMemory
}

func newMemory() *memory {
	return &memory{owners: map[types.UID]*ownerMemory{}}
}

// owner returns the memory of an owner, made when needed.
func (m *memory) owner(owner client.Object) *ownerMemory {
	m.mu.Lock()
	defer m.mu.Unlock()
	o := m.owners[owner.GetUID()]
	if o == nil {
		key := client.ObjectKeyFromObject(owner)
		o = &ownerMemory{uid: owner.GetUID(), key: key, children: map[applyset.ObjectID]*childMemory{}}
		m.owners[o.uid] = o
	}
	return o
}

// copyOf returns a copy of the memory of an owner, an empty one for an owner that is not known.
func (m *memory) copyOf(owner client.Object) *ownerMemory {
	m.mu.Lock()
	known := m.owners[owner.GetUID()]
	m.mu.Unlock()
	if known == nil {
		known = &ownerMemory{uid: owner.GetUID(), key: client.ObjectKeyFromObject(owner)}
	}
	return known.clone()
}

func (m *memory) forget(uid types.UID) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.owners, uid)
}
