package controller

import (
	"slices"
	"strings"
	"sync"

	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// tracker remembers what the last pass of each owner read and wrote, so that an event can be turned into the owners that
// it concerns. While a pass runs, what it reads is remembered beside what the pass before had read, so that no event is
// lost in between; the end of the pass drops the rest. It is safe for concurrent use, with one pass an owner at a time.
type tracker struct {
	mu     sync.RWMutex
	owners map[types.NamespacedName]*ownerReads
	edges  int // remembered reads of all owners
}

// scope separates what a pass reads from what it writes: the two are replaced at different moments.
type scope int

const (
	scopeRead scope = iota
	scopeWrite
	scopes
)

// ownerReads is what is remembered for one owner.
type ownerReads struct {
	owner types.NamespacedName
	edges [scopes][]edge
}

type edge struct {
	node *node
	seen bool // in the running pass
}

// session is one scope of one pass of an owner.
type session struct {
	tracker *tracker
	owner   types.NamespacedName
	reads   *ownerReads // nil as long as nothing is remembered
	scope   scope
	next    int // passes mostly read the same things in the same order: the edge that is expected now
}

func newTracker() *tracker {
	return &tracker{owners: map[types.NamespacedName]*ownerReads{}}
}

// begin starts remembering for the owner.
func (t *tracker) begin(owner types.NamespacedName, s scope) *session {
	t.mu.Lock()
	defer t.mu.Unlock()
	reads := t.owners[owner]
	if reads != nil {
		for i := range reads.edges[s] {
			reads.edges[s][i].seen = false
		}
	}
	return &session{tracker: t, owner: owner, reads: reads, scope: s}
}

func (t *tracker) readsOf(owner types.NamespacedName) *ownerReads {
	reads := t.owners[owner]
	if reads == nil {
		reads = &ownerReads{owner: owner}
		t.owners[owner] = reads
	}
	return reads
}

// name remembers the read of an object by name. It is called before the read, so that no event falls between the two.
func (s *session) name(x *index, name types.NamespacedName) {
	s.tracker.mu.Lock()
	defer s.tracker.mu.Unlock()
	s.note(x.byName(name))
}

// list remembers the read of all objects that match.
func (s *session) list(x *index, namespace string, l labels.Selector, f fields.Selector) {
	s.tracker.mu.Lock()
	defer s.tracker.mu.Unlock()
	s.note(x.byQuery(namespace, l, f))
}

func (s *session) note(n *node) {
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

// end drops what the pass did not read again. Called twice it does nothing more.
func (s *session) end() {
	s.tracker.mu.Lock()
	defer s.tracker.mu.Unlock()
	if s.reads == nil || s.tracker.owners[s.owner] != s.reads {
		return // nothing was remembered, or it was forgotten meanwhile
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
	if len(s.reads.edges[scopeRead])+len(s.reads.edges[scopeWrite]) == 0 {
		delete(s.tracker.owners, s.owner)
	}
}

// release takes the owner off a node of which one edge has been removed, unless its other scope has it too.
func (t *tracker) release(reads *ownerReads, n *node) {
	t.edges--
	for _, edges := range reads.edges {
		if slices.ContainsFunc(edges, func(e edge) bool { return e.node == n }) {
			return
		}
	}
	if n.owners.remove(reads) {
		n.index.drop(n)
	}
}

// forget drops all that is remembered for an owner that is gone.
func (t *tracker) forget(owner types.NamespacedName) {
	t.mu.Lock()
	defer t.mu.Unlock()
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

// concerned returns the owners that read one of the objects by name or by a list that it is or was in, sorted, each once.
func (t *tracker) concerned(x *index, objects ...client.Object) []types.NamespacedName {
	t.mu.RLock()
	defer t.mu.RUnlock()
	var found []types.NamespacedName
	for _, object := range objects {
		found = x.find(found, object)
	}
	return unique(found)
}

// readers returns the owners that read anything of the kind, sorted, each once.
func (t *tracker) readers(x *index) []types.NamespacedName {
	t.mu.RLock()
	defer t.mu.RUnlock()
	return unique(x.all(nil))
}

// size returns the number of owners and of remembered reads.
func (t *tracker) size() (owners, edges int) {
	t.mu.RLock()
	defer t.mu.RUnlock()
	return len(t.owners), t.edges
}

func unique(names []types.NamespacedName) []types.NamespacedName {
	slices.SortFunc(names, compareNames)
	return slices.Compact(names)
}

func compareNames(a, b types.NamespacedName) int {
	if order := strings.Compare(a.Namespace, b.Namespace); order != 0 {
		return order
	}
	return strings.Compare(a.Name, b.Name)
}
