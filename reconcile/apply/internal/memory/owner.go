package memory

import (
	"maps"
	"sync"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/applyset"
)

// KEP-3659 has names for one inventory per owner. The first controller that records children of an owner uses them, and its field manager
// is in the tooling annotation. Other controllers of the same kind of owner use names of their own, and label their children with another
// ID. No controller reads or writes the inventory of another one.

// Sets are the sets of an owner.
type Sets struct {
	// Standard and Own are the IDs of the set with the standard names and of the set with the names of this controller.
	Standard, Own string
	// UsesOwn reports that Own is used.
	UsesOwn bool
}

// Owner is the memory of one owner.
type Owner struct {
	// Mu is held by the pass over the owner.
	Mu       sync.Mutex
	uid      types.UID
	key      types.NamespacedName
	Pass     uint32
	Children map[applyset.ObjectID]*Child
	Metadata Metadata
	Sets     Sets
	// Contributor is the field manager of contributions.
	Contributor string
	Prune       Prune
	Guard       Guard
	// Namespaces are the namespaces that are being deleted.
	Namespaces Namespaces
}

// clone returns a copy, for a pass that is not carried out.
func (o *Owner) clone() *Owner {
	o.Mu.Lock()
	defer o.Mu.Unlock()
	out := &Owner{
		uid: o.uid, key: o.key, Pass: o.Pass, Metadata: o.Metadata, Sets: o.Sets, Contributor: o.Contributor, Prune: o.Prune, Guard: o.Guard,
		Children: make(map[applyset.ObjectID]*Child, len(o.Children)),
	}
	out.Prune.Seen = maps.Clone(o.Prune.Seen)
	out.Prune.Empty, out.Prune.Absent = maps.Clone(o.Prune.Empty), maps.Clone(o.Prune.Absent)
	for id, m := range o.Children {
		out.Children[id] = m.clone()
	}
	return out
}

// DropOthers releases the children that the current pass neither plans nor deletes.
func (o *Owner) DropOthers() {
	for id, m := range o.Children {
		if m.pass != o.Pass {
			delete(o.Children, id)
		}
	}
}

// Child returns the memory of a child, and creates it if missing.
func (o *Owner) Child(id applyset.ObjectID) *Child {
	m := o.Children[id]
	if m == nil {
		m = &Child{}
		o.Children[id] = m
	}
	return m
}

// Store is the memory of all owners.
type Store struct {
	mu     sync.Mutex
	owners map[types.UID]*Owner
}

// NewStore returns an empty store.
func NewStore() *Store {
	return &Store{owners: map[types.UID]*Owner{}}
}

// Owner returns the memory of an owner, and creates it if missing.
func (m *Store) Owner(owner client.Object) *Owner {
	m.mu.Lock()
	defer m.mu.Unlock()
	o := m.owners[owner.GetUID()]
	if o == nil {
		key := client.ObjectKeyFromObject(owner)
		o = &Owner{uid: owner.GetUID(), key: key, Children: map[applyset.ObjectID]*Child{}}
		m.owners[o.uid] = o
	}
	return o
}

// CopyOf returns a copy of the memory of an owner, an empty one for an unknown owner.
func (m *Store) CopyOf(owner client.Object) *Owner {
	m.mu.Lock()
	known := m.owners[owner.GetUID()]
	m.mu.Unlock()
	if known == nil {
		known = &Owner{uid: owner.GetUID(), key: client.ObjectKeyFromObject(owner)}
	}
	return known.clone()
}

// Retry ends the delays that follow refused requests for the owner.
func (m *Store) Retry(uid types.UID) {
	m.mu.Lock()
	o := m.owners[uid]
	m.mu.Unlock()
	if o == nil {
		return
	}
	o.Mu.Lock()
	defer o.Mu.Unlock()
	o.Namespaces.Retry()
	for _, child := range o.Children {
		child.retry()
	}
}

// Forget releases the memory of an owner.
func (m *Store) Forget(uid types.UID) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.owners, uid)
}
