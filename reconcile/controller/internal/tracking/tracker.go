package tracking

import (
	"slices"
	"strings"
	"sync"

	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Tracker records the reads and writes of each owner's last pass, and maps an event to the owners that it concerns. While a pass runs, the
// reads of the pass before stay recorded in addition to the new ones, so that no event is lost; the end of the pass drops
// reads that were not repeated. It is safe for concurrent use, with one pass per owner at a time.
type Tracker struct {
	mu     sync.RWMutex
	owners map[types.NamespacedName]*ownerReads
	edges  int      // recorded reads of all owners
	unread []*Index // indexes that lost a node since the lock was taken
}

// Session is one scope of one pass of an owner.
type Session struct {
	tracker *Tracker
	owner   types.NamespacedName
	reads   *ownerReads // nil until a read is recorded
	scope   scope
	next    int // passes usually read the same targets in the same order: the position of the expected edge
}

// NewTracker returns an empty tracker.
func NewTracker() *Tracker {
	return &Tracker{owners: map[types.NamespacedName]*ownerReads{}}
}

// Begin starts to record reads for the owner.
func (t *Tracker) Begin(owner types.NamespacedName, s scope) *Session {
	t.mu.Lock()
	defer t.mu.Unlock()
	reads := t.owners[owner]
	if reads != nil {
		for i := range reads.edges[s] {
			reads.edges[s][i].seen = false
		}
	}
	return &Session{tracker: t, owner: owner, reads: reads, scope: s}
}

func (t *Tracker) readsOf(owner types.NamespacedName) *ownerReads {
	reads := t.owners[owner]
	if reads == nil {
		reads = &ownerReads{owner: owner}
		t.owners[owner] = reads
	}
	return reads
}

// Owner returns the owner of the pass.
func (s *Session) Owner() types.NamespacedName { return s.owner }

// Name records the read of an object by name. Call it before the read, so that no event is lost in between.
func (s *Session) Name(x *Index, name types.NamespacedName) {
	s.tracker.mu.Lock()
	defer s.tracker.mu.Unlock()
	s.note(x.byName(name))
}

// List records the read of all objects that match.
func (s *Session) List(x *Index, namespace string, l labels.Selector, f fields.Selector) {
	s.tracker.mu.Lock()
	defer s.tracker.mu.Unlock()
	s.note(x.byQuery(namespace, l, f))
}

func (s *Session) note(n *node) {
	if s.reads == nil {
		s.reads = s.tracker.readsOf(s.owner)
	}
	edges := s.reads.edges[s.scope]
	at := s.next
	if at >= len(edges) || edges[at].node != n {
		at = slices.IndexFunc(edges, func(e edge) bool { return e.node == n })
	}
	if at >= 0 {
		edges[at].seen = true
		s.next = at + 1
		return
	}
	n.owners.add(s.reads)
	s.reads.edges[s.scope] = append(edges, edge{node: n, seen: true})
	s.next = len(edges) + 1
	s.tracker.edges++
}

// End drops the reads that the pass did not repeat. A second call has no effect.
func (s *Session) End() {
	s.tracker.mu.Lock()
	defer s.tracker.unlock()
	if s.reads == nil || s.tracker.owners[s.owner] != s.reads {
		return // no read was recorded, or the record was dropped meanwhile
	}
	kept := s.reads.edges[s.scope][:0]
	var dropped []*node
	for _, e := range s.reads.edges[s.scope] {
		if e.seen {
			kept = append(kept, e)
		} else {
			dropped = append(dropped, e.node)
		}
	}
	clear(s.reads.edges[s.scope][len(kept):])
	s.reads.edges[s.scope] = slices.Clip(kept)
	for _, n := range dropped {
		s.tracker.release(s.reads, n)
	}
	if len(s.reads.edges[ScopeRead])+len(s.reads.edges[ScopeWrite]) == 0 {
		delete(s.tracker.owners, s.owner)
	}
}

// release removes the owner from a node after one of its edges was removed, unless the other scope of the owner has the node, too.
func (t *Tracker) release(reads *ownerReads, n *node) {
	t.edges--
	for _, edges := range reads.edges {
		if slices.ContainsFunc(edges, func(e edge) bool { return e.node == n }) {
			return
		}
	}
	if n.owners.remove(reads) {
		n.index.drop(n)
		if n.index.Unread != nil && !slices.Contains(t.unread, n.index) {
			t.unread = append(t.unread, n.index)
		}
	}
}

// unlock unlocks the tracker and then calls Unread of the indexes that lost a node. Unread may call the tracker.
func (t *Tracker) unlock() {
	unread := t.unread
	t.unread = nil
	t.mu.Unlock()
	for _, x := range unread {
		x.Unread()
	}
}

// Forget drops the record of a deleted owner.
func (t *Tracker) Forget(owner types.NamespacedName) {
	t.mu.Lock()
	defer t.unlock()
	reads := t.owners[owner]
	if reads == nil {
		return
	}
	delete(t.owners, owner)
	edges := slices.Concat(reads.edges[:]...)
	reads.edges = [scopes][]edge{}
	for _, e := range edges {
		t.release(reads, e.node)
	}
}

// Concerned returns the owners that read one of the objects by name or by a list that selects it, sorted and without duplicates.
func (t *Tracker) Concerned(x *Index, objects ...client.Object) []types.NamespacedName {
	t.mu.RLock()
	defer t.mu.RUnlock()
	var found []types.NamespacedName
	for _, object := range objects {
		found = x.find(found, object)
	}
	return Unique(found)
}

// Wanted reports whether an owner reads the object by name, in a list or in a derived value.
func (t *Tracker) Wanted(x *Index, object client.Object) bool {
	t.mu.RLock()
	defer t.mu.RUnlock()
	return x.reads(object)
}

// Readers returns the owners that read any object of the kind, sorted and without duplicates.
func (t *Tracker) Readers(x *Index) []types.NamespacedName {
	t.mu.RLock()
	defer t.mu.RUnlock()
	return Unique(x.all(nil))
}

// read is one read of the last pass of an owner: an object by name, or a list.
type read struct {
	Index *Index
	What  string
}

// Reads returns the reads of the owner's last pass, at most most of them, and the number of omitted ones.
func (t *Tracker) Reads(owner types.NamespacedName, most int) (reads []read, more int) {
	t.mu.RLock()
	defer t.mu.RUnlock()
	of := t.owners[owner]
	if of == nil {
		return nil, 0
	}
	for _, e := range of.edges[ScopeRead] {
		if len(reads) == most {
			more++
			continue
		}
		what := strings.TrimPrefix(e.node.name.String(), "/")
		if e.node.query != nil {
			what = e.node.query.String()
		}
		if e.node.value != nil {
			what = e.node.value.of.String() + ", derived from " + e.node.value.from.String()
		}
		reads = append(reads, read{Index: e.node.index, What: what})
	}
	return reads, more
}

// Size returns the number of owners and of recorded reads.
func (t *Tracker) Size() (owners, edges int) {
	t.mu.RLock()
	defer t.mu.RUnlock()
	return len(t.owners), t.edges
}

// Unique sorts the names and removes duplicates.
func Unique(names []types.NamespacedName) []types.NamespacedName {
	slices.SortFunc(names, CompareNames)
	return slices.Compact(names)
}

// CompareNames orders names by namespace and name.
func CompareNames(a, b types.NamespacedName) int {
	if order := strings.Compare(a.Namespace, b.Namespace); order != 0 {
		return order
	}
	return strings.Compare(a.Name, b.Name)
}
