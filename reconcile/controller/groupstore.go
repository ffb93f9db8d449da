package controller

import (
	"context"
	"fmt"
	"slices"
	"sync"

	apiequality "k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	ctrl "sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"

	"github.com/reconcilekit/reconcilekit/reconcile/apply"
	"github.com/reconcilekit/reconcilekit/reconcile/controller/internal/declaration"
	"github.com/reconcilekit/reconcilekit/reconcile/controller/internal/tracked"
	"github.com/reconcilekit/reconcilekit/reconcile/controller/internal/tracking"
	"github.com/reconcilekit/reconcilekit/reconcile/controller/internal/trigger"
	"github.com/reconcilekit/reconcilekit/reconcile/controller/internal/watching"
	"github.com/reconcilekit/reconcilekit/reconcile/internal/groupkey"
	"github.com/reconcilekit/reconcilekit/reconcile/internal/pipeline"
)

// groupStore holds the groups of one controller as their last pass left them, and wakes who reads them.
type groupStore struct {
	name   string
	single bool // there is one group, which is never forgotten: what it has read must wake it

	mu      sync.Mutex
	groups  map[types.NamespacedName]*Group
	readers []*groupReads
	own     watching.Queue // of the controller of the groups
}

// groupReads is one controller that reads the groups of a group store.
type groupReads struct {
	store   *groupStore
	index   *tracking.Index
	tracker *tracking.Tracker
	wakes   *trigger.Triggers
	q       watching.Queue
}

func newGroupStore(name string) *groupStore {
	return &groupStore{name: name, groups: map[types.NamespacedName]*Group{}}
}

// join lets passes read the groups of the group store.
func (j *joinedGroups) join(groups *groupStore, tracker *tracking.Tracker, woken *trigger.Triggers) *groupReads {
	r := &groupReads{store: groups, tracker: tracker, wakes: woken}
	r.index = tracking.NewIndex(func(client.Object, string) ([]string, bool) { return nil, false })
	j.reads = append(j.reads, r)
	return r
}

// source lets the group store wake the owners that read its groups.
func (r *groupReads) source() source.Source {
	return source.Func(func(_ context.Context, q watching.Queue) error {
		r.store.mu.Lock()
		defer r.store.mu.Unlock()
		r.q = q
		r.store.readers = append(r.store.readers, r)
		return nil
	})
}

// get fills in the group; a group without a pass is asked to have one.
func (b *groupStore) get(key types.NamespacedName, into *Group) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	found := b.groups[key]
	if found == nil {
		if b.own != nil {
			b.own.Add(ctrl.Request{NamespacedName: key})
		}
		return &pipeline.NotYetError{What: "group " + b.name + " " + key.String()}
	}
	*into = *found.DeepCopyObject().(*Group) //nolint:forcetypeassert // a deep copy has the type of its original
	return nil
}

// put stores what a pass found and wakes who reads it when that is news.
func (b *groupStore) put(g *Group) (changed bool) {
	key := client.ObjectKeyFromObject(g)
	b.mu.Lock()
	defer b.mu.Unlock()
	before := b.groups[key]
	b.groups[key] = g
	if g.idle && b.own != nil {
		b.own.Add(ctrl.Request{NamespacedName: key}) // to be forgotten
	}
	if before != nil && apiequality.Semantic.DeepEqual(before.Status, g.Status) {
		return false
	}
	for _, r := range b.readers {
		for _, owner := range r.tracker.Concerned(r.index, g) {
			r.wakes.Note(owner, groupGVK(b.name), trigger.Change{Event: trigger.EventUpdate, After: g})
			r.q.Add(ctrl.Request{NamespacedName: owner})
		}
	}
	return true
}

// Revive notes that something has happened to the group since its last pass.
func (b *groupStore) Revive(key types.NamespacedName) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if g := b.groups[key]; g != nil && g.idle {
		revived := *g
		revived.idle = false
		b.groups[key] = &revived
	}
}

// owner returns the group for a pass, nil when the last pass left nothing to look after.
func (b *groupStore) owner(key types.NamespacedName) *Group {
	b.mu.Lock()
	defer b.mu.Unlock()
	g := GroupOf(b.name)
	if found := b.groups[key]; found != nil {
		if found.idle {
			if !b.watched(found) {
				delete(b.groups, key)
			}
			return nil
		}
		g.Status = found.DeepCopyObject().(*Group).Status //nolint:forcetypeassert // as above
	}
	g.Namespace, g.Name, g.Generation = key.Namespace, key.Name, 1
	g.UID = types.UID("group:" + groupkey.Value(b.name, key))
	return g
}

// Keys are the groups that have had a pass, in order.
func (b *groupStore) Keys() []types.NamespacedName {
	b.mu.Lock()
	defer b.mu.Unlock()
	keys := make([]types.NamespacedName, 0, len(b.groups))
	for key := range b.groups {
		keys = append(keys, key)
	}
	slices.SortFunc(keys, tracking.CompareNames)
	return keys
}

// Peek returns the group as its last pass left it, nil when there was none.
func (b *groupStore) Peek(key types.NamespacedName) client.Object {
	b.mu.Lock()
	defer b.mu.Unlock()
	found := b.groups[key]
	if found == nil {
		return nil
	}
	return found.DeepCopyObject().(*Group) //nolint:forcetypeassert // a deep copy has the type of its original
}

// watched reports whether an owner reads the group.
func (b *groupStore) watched(g *Group) bool {
	return slices.ContainsFunc(b.readers, func(r *groupReads) bool { return len(r.tracker.Concerned(r.index, g)) > 0 })
}

// groupWorld is what the pipeline of a group reads and writes instead of the API server.
type groupWorld struct {
	client.Reader
	pipeline.Applier
	store *groupStore
	reads *tracked.Reads
}

// Get reads the group that a request names.
func (w *groupWorld) Get(ctx context.Context, key client.ObjectKey, into client.Object, opts ...client.GetOption) error {
	into2, ok := into.(*Group)
	if !ok {
		return w.Reader.Get(ctx, key, into, opts...)
	}
	g := w.store.owner(key)
	if g == nil {
		return apierrors.NewNotFound(schema.GroupResource{Group: "group", Resource: w.store.name}, key.String())
	}
	for _, k := range w.reads.Kinds {
		if k.Has(declaration.PurposeOwns) && !k.Absent.Load() {
			g.childKinds = append(g.childKinds, k.GroupVersionKind)
		}
	}
	*into2 = *g
	return nil
}

// Apply makes the children and notes whether there is anything left to look after.
func (w *groupWorld) Apply(ctx context.Context, owner client.Object, plan apply.Plan) apply.Result {
	result := w.Applier.Apply(ctx, owner, plan)
	if g, ok := owner.(*Group); ok {
		g.idle = len(plan.Children)+len(plan.Deletes)+len(result.Objects) == 0 && result.OwnerErr == nil && result.PruneBlocked == nil &&
			!w.store.single
	}
	return result
}

// Rewrite has nothing to store: a group is no object.
func (w *groupWorld) Rewrite(context.Context, client.Object, client.Object) (written bool, err error) {
	return false, nil
}

// WriteStatus publishes the status of the group.
func (w *groupWorld) WriteStatus(_ context.Context, _, after client.Object, _ []string) (written bool, err error) {
	g, ok := after.(*Group)
	if !ok {
		return false, nil
	}
	g.idle = g.idle && len(g.Status.Members) == 0
	return w.store.put(g), nil
}

// joinedGroups are the groups of other controllers that a controller reads.
type joinedGroups struct {
	controller string
	reads      []*groupReads
}

// read reads a group of another controller.
func (j *joinedGroups) read(s *tracking.Session, key types.NamespacedName, object client.Object) error {
	into, ok := object.(*Group)
	if !ok {
		return fmt.Errorf("read a group into %T: want a *controller.Group", object)
	}
	at := slices.IndexFunc(j.reads, func(r *groupReads) bool { return r.store.name == into.Kind })
	if at < 0 {
		return &UndeclaredError{
			Controller: j.controller, GVK: into.GroupVersionKind(), Declaration: "Joins(the builder of " + into.Kind + ")",
		}
	}
	s.Name(j.reads[at].index, key)
	return j.reads[at].store.get(key, into)
}

// names are how explanations name the reads of the groups.
func (j *joinedGroups) names() map[*tracking.Index]string {
	names := map[*tracking.Index]string{}
	for _, joined := range j.reads {
		names[joined.index] = "group of controller " + joined.store.name
	}
	return names
}
