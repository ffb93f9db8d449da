package view

import (
	"context"
	"slices"
	"sync"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	toolscache "k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/internal/objects"
	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/internal/world"
)

// View is the cache of one instance of an operator: a manager's cache in all but time, which the test moves. What the
// world holds shows up when sync is called, as many calls late as lag says.
type View struct {
	world *world.World
	lag   func(schema.GroupVersionKind) int
	shake func([]Event) []Event // drops, doubles and reorders events; nil delivers them as they are
	opts  cache.Options
	// Delivered is called when all handlers of an event were called; they come in no order. Nil does nothing.
	Delivered func()
	Past      *Past // what a new cache shows first; nil is the present

	Reads cachedReads

	mu      sync.Mutex
	begun   bool     // informers run
	whole   []string // see Whole
	tick    int
	seen    uint64 // the revision of the world at the last sync
	kinds   map[schema.GroupVersionKind]*viewKind
	kept    map[schema.GroupVersionKind]*kept
	indexes map[schema.GroupVersionKind]map[string]client.IndexerFunc
}

// Past is what a cache shows that is behind: all kinds, or one alone, as they were.
type Past struct {
	State  map[schema.GroupVersionKind]world.Snapshot
	Kind   string // empty is all
	Passes int    // that see it; fewer when there is nothing left to do
}

type viewKind struct {
	resource  schema.GroupResource
	shown     world.Snapshot
	newest    world.Snapshot
	pipe      []pending
	informers map[representation]*informer
	converted map[representation]map[types.NamespacedName]converted
}

type pending struct {
	tick  int
	state world.Snapshot
}

type converted struct {
	from *unstructured.Unstructured
	to   client.Object
}

// representation is the form in which an informer keeps a kind.
type representation string

func representationOf(obj runtime.Object) representation {
	switch obj.(type) {
	case runtime.Unstructured:
		return "unstructured"
	case *metav1.PartialObjectMetadata, *metav1.PartialObjectMetadataList:
		return "metadata"
	}
	return "typed"
}

// New makes a cache with the options of the manager, which shows each kind as it is when it is asked for it first.
func New(w *world.World, opts cache.Options) *View {
	return &View{
		Reads: cachedReads{names: w.ShownAs},
		world: w, opts: opts, lag: func(schema.GroupVersionKind) int { return 0 },
		kinds:   map[schema.GroupVersionKind]*viewKind{},
		kept:    map[schema.GroupVersionKind]*kept{},
		indexes: map[schema.GroupVersionKind]map[string]client.IndexerFunc{},
	}
}

// Disturb sets how events are dropped, doubled and reordered (nil delivers them as they are) and how many passes caches lag, by
// kind.
func (v *View) Disturb(shake func([]Event) []Event, lag map[string]int) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.shake, v.lag = shake, lagOf(lag)
}

// Shows reports whether the cache shows the stored version of an object.
func (v *View) Shows(gvk schema.GroupVersionKind, u *unstructured.Unstructured) bool {
	v.mu.Lock()
	defer v.mu.Unlock()
	k := v.kinds[gvk]
	if k == nil {
		return false
	}
	shown := k.shown[client.ObjectKeyFromObject(u)]
	return shown != nil && shown.GetUID() == u.GetUID() && shown.GetResourceVersion() == u.GetResourceVersion()
}

// Start blocks until the context ends.
func (v *View) Start(ctx context.Context) error {
	<-ctx.Done()
	return nil
}

// WaitForCacheSync is true: a view lists a kind when it is asked for it.
func (v *View) WaitForCacheSync(context.Context) bool { return true }

// lagOf turns the delays of a case into those of kinds.
func lagOf(delays map[string]int) func(schema.GroupVersionKind) int {
	return func(gvk schema.GroupVersionKind) int {
		if d, known := delays[gvk.Kind]; known {
			return d
		}
		return delays[""]
	}
}

// Names are the kinds that the cache has, for the cases in which one of them lags.
func (v *View) Names() []string {
	v.mu.Lock()
	defer v.mu.Unlock()
	var names []string
	for _, gvk := range v.watched() {
		if !slices.Contains(names, gvk.Kind) {
			names = append(names, gvk.Kind)
		}
	}
	return names
}

// Whole are the kinds that the cache keeps whole only because its options do not say how a controller would have it keep them, sorted.
func (v *View) Whole() []string {
	v.mu.Lock()
	defer v.mu.Unlock()
	return slices.Sorted(slices.Values(v.whole))
}

// kept is what the options of the cache keep of a kind.
type kept struct {
	labels     labels.Selector // nil keeps all
	fields     fields.Selector // nil keeps all
	namespaces []string        // none keeps all
	transform  toolscache.TransformFunc
}

// Event is one change as a watch tells of it: before is nil for an object that appeared, after for one that is gone.
type Event struct {
	gvk           schema.GroupVersionKind
	key           types.NamespacedName
	Before, After *unstructured.Unstructured
}

// informer delivers the events of one kind in one representation to its handlers.
type informer struct {
	view     *View
	gvk      schema.GroupVersionKind
	as       representation
	handlers []*registration
	store    *store // nil for one that keeps all
}

// registration is a handler; what was there when it came is told to it at once.
type registration struct {
	toolscache.ResourceEventHandler
}

func (v *View) watched() []schema.GroupVersionKind {
	kinds := make([]schema.GroupVersionKind, 0, len(v.kinds))
	for gvk := range v.kinds {
		kinds = append(kinds, gvk)
	}
	slices.SortFunc(kinds, objects.CompareKinds)
	return kinds
}

// decider is an informer that decides what it keeps of each object, such as those of controller.CacheOptions, which keep of the objects of
// others the metadata only. Nobody runs it: the view moves its store.
type decider interface {
	toolscache.SharedIndexInformer
	// Begin notes that the informer runs.
	Begin()
	// Reduce returns what the informer puts into its store for an object, which it may change.
	Reduce(object any) (any, error)
	// Accept returns the handler that the informer gives its events to when it is given another one.
	Accept(handler toolscache.ResourceEventHandler) (toolscache.ResourceEventHandler, error)
}

// store is what a decider has of a kind in one representation.
type store struct {
	decider

	items    map[types.NamespacedName]item
	replaced map[*unstructured.Unstructured]any // by the last events
}

// item is what is kept of a version of an object.
type item struct {
	from *unstructured.Unstructured
	kept any
}
