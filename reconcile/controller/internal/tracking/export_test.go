package tracking

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/reconcilekit/reconcilekit/reconcile/internal/derived"
)

// Passes is a tracker with one index for the tests of the package.
type Passes struct {
	tracker *Tracker
	index   *Index
}

// Fixture returns Passes whose index has the given fields and the name.
func Fixture(extract map[string]client.IndexerFunc) *Passes {
	return &Passes{tracker: NewTracker(), index: NewIndex(func(object client.Object, field string) ([]string, bool) {
		if field == "metadata.name" {
			return []string{object.GetName()}, true
		}
		if values := extract[field]; values != nil {
			return values(object), true
		}
		return nil, false
	})}
}

// Pass runs a reconciliation of the owner with the reads of the function.
func (p *Passes) Pass(owner types.NamespacedName, reads func(*Reads)) {
	s := p.Begin(owner)
	reads(s)
	s.End()
}

// Begin starts a reconciliation.
func (p *Passes) Begin(owner types.NamespacedName) *Reads {
	return &Reads{p.tracker.Begin(owner, ScopeRead), p.index}
}

// BeginWrites starts the scope for the writes of a reconciliation.
func (p *Passes) BeginWrites(owner types.NamespacedName) *Reads {
	return &Reads{p.tracker.Begin(owner, ScopeWrite), p.index}
}

// ReadsOf returns the descriptions of at most the given number of tracked reads of the owner.
func (p *Passes) ReadsOf(owner types.NamespacedName, most int) (texts []string, more int) {
	reads, more := p.tracker.Reads(owner, most)
	for _, r := range reads {
		texts = append(texts, r.What)
	}
	return texts, more
}

// Forget drops an owner.
func (p *Passes) Forget(owner types.NamespacedName) { p.tracker.Forget(owner) }

// Concerned returns the owners whose reads match the objects.
func (p *Passes) Concerned(objects ...client.Object) []types.NamespacedName {
	return p.tracker.Concerned(p.index, objects...)
}

// Changed returns the owners whose derived values an event changed.
func (p *Passes) Changed(ctx context.Context, objects ...client.Object) []types.NamespacedName {
	return p.tracker.Changed(ctx, nil, p.index, objects...)
}

// Wanted reports whether an owner reads the object.
func (p *Passes) Wanted(object client.Object) bool { return p.tracker.Wanted(p.index, object) }

// Found returns the owners that the index finds for one object, including duplicates.
func (p *Passes) Found(object client.Object) []types.NamespacedName {
	return p.index.find(nil, object)
}

// Size counts owners, edges and the entries left in the index.
func (p *Passes) Size() (owners, edges, entries int) {
	owners, edges = p.tracker.Size()
	return owners, edges, len(p.index.names) + len(p.index.queries) + len(p.index.spaces)
}

// Reads is a scope of a reconciliation.
type Reads struct {
	session *Session
	index   *Index
}

// Get records a read by name.
func (s *Reads) Get(namespace, name string) {
	s.session.Name(s.index, types.NamespacedName{Namespace: namespace, Name: name})
}

// List records a read by selector.
func (s *Reads) List(namespace string, l labels.Selector, f fields.Selector) {
	s.session.List(s.index, namespace, l, f)
}

// Derived records the read of a derived value.
func (s *Reads) Derived(of fmt.Stringer, namespace string, matching labels.Selector, value func() *derived.Value) *derived.Value {
	return s.session.Derived(s.index, of, namespace, matching, value)
}

// End ends the scope.
func (s *Reads) End() { s.session.End() }
