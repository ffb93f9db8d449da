package groups

import (
	"context"
	"slices"
	"strings"
	"sync"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	ctrl "sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"

	"github.com/reconcilekit/reconcilekit/reconcile/controller/internal/declaration"
	"github.com/reconcilekit/reconcilekit/reconcile/controller/internal/tracked"
	"github.com/reconcilekit/reconcilekit/reconcile/controller/internal/tracking"
	"github.com/reconcilekit/reconcilekit/reconcile/controller/internal/trigger"
	"github.com/reconcilekit/reconcilekit/reconcile/controller/internal/watching"
	"github.com/reconcilekit/reconcilekit/reconcile/internal/groupkey"
	"github.com/reconcilekit/reconcilekit/reconcile/internal/pipeline"
)

// Store has the groups of one controller after their last pass, and enqueues the owners that read them.
type Store struct {
	Name   string // of the controller
	Single bool   // there is one group, which is never dropped: its reads must enqueue it

	mu      sync.Mutex
	groups  map[types.NamespacedName]*Group
	readers []*reader
	own     watching.Queue // of the controller of the groups
}

// reader is one controller that reads the groups of a group store.
type reader struct {
	store   *Store
	index   *tracking.Index
	tracker *tracking.Tracker
	wakes   *trigger.Triggers
	q       watching.Queue
}

// NewStore returns an empty store for a controller of groups.
func NewStore(name string) *Store {
	return &Store{Name: name, groups: map[types.NamespacedName]*Group{}}
}

// SingletonKey returns the key of the singleton of the named controller.
func SingletonKey(name string) types.NamespacedName { return types.NamespacedName{Name: name} }

// startSingleton enqueues the first pass of a singleton, which no event triggers.
func (s *Store) startSingleton(q watching.Queue) {
	if s.Single {
		q.Add(ctrl.Request{NamespacedName: SingletonKey(s.Name)})
	}
}

// Source returns a source that gives the store the queue of its own controller.
func (s *Store) Source() source.Source {
	return source.Func(func(_ context.Context, q watching.Queue) error {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.own = q
		s.startSingleton(q)
		return nil
	})
}

// source returns a source that lets the store enqueue the owners that read its groups.
func (r *reader) source() source.Source {
	return source.Func(func(_ context.Context, q watching.Queue) error {
		r.store.mu.Lock()
		defer r.store.mu.Unlock()
		r.q = q
		r.store.readers = append(r.store.readers, r)
		return nil
	})
}

// get copies the group to into. It enqueues a group that has had no pass.
func (s *Store) get(key types.NamespacedName, into *Group) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	found := s.groups[key]
	if found == nil {
		if s.own != nil {
			s.own.Add(ctrl.Request{NamespacedName: key})
		}
		return &pipeline.NotYetError{What: "group " + s.Name + " " + key.String()}
	}
	*into = *found.DeepCopyObject().(*Group) //nolint:forcetypeassert // a deep copy has the type of its original
	return nil
}

// put stores the result of a pass and enqueues the readers of the group if the result has changed.
func (s *Store) put(g *Group) (changed bool) {
	key := client.ObjectKeyFromObject(g)
	s.mu.Lock()
	defer s.mu.Unlock()
	before := s.groups[key]
	s.groups[key] = g
	if g.idle && s.own != nil {
		s.own.Add(ctrl.Request{NamespacedName: key}) // so that the next pass drops it
	}
	if before != nil && before.Status.equal(&g.Status) {
		return false
	}
	for _, r := range s.readers {
		for _, owner := range r.tracker.Concerned(r.index, g) {
			r.wakes.Note(owner, gvkOf(s.Name), trigger.Change{Event: trigger.EventUpdate, After: g})
			r.q.Add(ctrl.Request{NamespacedName: owner})
		}
	}
	return true
}

// Revive records that an event has concerned the group since its last pass.
func (s *Store) Revive(key types.NamespacedName) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if g := s.groups[key]; g != nil && g.idle {
		revived := *g
		revived.idle = false
		s.groups[key] = &revived
	}
}

// owner returns the group for a pass, nil if the last pass left the group without work.
func (s *Store) owner(key types.NamespacedName) *Group {
	s.mu.Lock()
	defer s.mu.Unlock()
	g := Of(s.Name)
	if found := s.groups[key]; found != nil {
		if found.idle {
			if !s.watched(found) {
				delete(s.groups, key)
			}
			return nil
		}
		g.Status = found.DeepCopyObject().(*Group).Status //nolint:forcetypeassert // as above
	}
	g.Namespace, g.Name, g.Generation = key.Namespace, key.Name, 1
	g.UID = types.UID("group:" + groupkey.Value(s.Name, key))
	return g
}

// Keys returns the groups that have had a pass, in order.
func (s *Store) Keys() []types.NamespacedName {
	s.mu.Lock()
	defer s.mu.Unlock()
	keys := make([]types.NamespacedName, 0, len(s.groups))
	for key := range s.groups {
		keys = append(keys, key)
	}
	slices.SortFunc(keys, tracking.CompareNames)
	return keys
}

// Peek returns the group after its last pass, nil if it had none.
func (s *Store) Peek(key types.NamespacedName) client.Object {
	s.mu.Lock()
	defer s.mu.Unlock()
	found := s.groups[key]
	if found == nil {
		return nil
	}
	return found.DeepCopyObject().(*Group) //nolint:forcetypeassert // a deep copy has the type of its original
}

// watched reports whether an owner reads the group.
func (s *Store) watched(g *Group) bool {
	return slices.ContainsFunc(s.readers, func(r *reader) bool { return len(r.tracker.Concerned(r.index, g)) > 0 })
}

// OfChild returns the keys of the groups that own or share the object.
func (s *Store) OfChild(object client.Object) (keys []types.NamespacedName) {
	for _, value := range groupkey.Values(object) {
		rest, _ := strings.CutPrefix(value, s.Name+"/")
		var key types.NamespacedName
		var ok bool
		if key.Namespace, key.Name, ok = strings.Cut(rest, "/"); ok && rest != value {
			keys = append(keys, key)
		}
	}
	return keys
}

// InCache returns the groups with a member or a child in the cache, sorted by namespace and name.
func (s *Store) InCache(ctx context.Context, reads *tracked.Reads) ([]types.NamespacedName, error) {
	var keys []types.NamespacedName
	for _, k := range reads.Present() {
		err := reads.Each(ctx, k, func(o client.Object) {
			if k.Has(declaration.PurposeOwns, declaration.PurposeWrites) {
				keys = append(keys, s.OfChild(o)...)
			}
			for _, d := range k.Declarations {
				if d.Mapping == nil {
					continue
				}
				for _, request := range d.Mapping(ctx, o) {
					keys = append(keys, request.NamespacedName)
				}
			}
		})
		if err != nil {
			return nil, err
		}
	}
	slices.SortFunc(keys, tracking.CompareNames)
	return slices.Compact(keys), nil
}
