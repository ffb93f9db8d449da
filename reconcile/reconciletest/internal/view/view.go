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

	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/internal/cluster"
	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/internal/objects"
)

// View is the cache of one instance of an operator: like a manager's cache, except that the test controls its timing. A change of the
// cluster appears after a number of calls of Sync, the lag.
type View struct {
	cluster *cluster.Cluster
	lag     func(schema.GroupVersionKind) int
	shake   func([]Event) []Event // drops, duplicates and reorders events; nil does not change them
	opts    cache.Options
	// Delivered is called after all handlers of an event, which have no order. Optional.
	Delivered func()
	Past      *Past // initial state of a new cache; nil is the present

	Reads cachedReads

	mu      sync.Mutex
	begun   bool     // informers run
	whole   []string // see Whole
	tick    int
	seen    uint64 // revision of the cluster at the last sync
	kinds   map[schema.GroupVersionKind]*viewKind
	kept    map[schema.GroupVersionKind]*kept
	indexes map[schema.GroupVersionKind]map[string]client.IndexerFunc
}

// Past is the past state that a lagging cache shows: all kinds, or one.
type Past struct {
	State  map[schema.GroupVersionKind]cluster.Snapshot
	Kind   string // empty is all
	Passes int    // number of passes that see it; fewer if the operator is idle
}

type viewKind struct {
	resource  schema.GroupResource
	shown     cluster.Snapshot
	newest    cluster.Snapshot
	pipe      []pending
	informers map[representation]*informer
	converted map[representation]map[types.NamespacedName]converted
}

type pending struct {
	tick  int
	state cluster.Snapshot
}

type converted struct {
	from *unstructured.Unstructured
	to   client.Object
}

// representation is the form in which an informer stores a kind.
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

// New returns a cache with the options of the manager. It shows the state of each kind at its first use.
func New(w *cluster.Cluster, opts cache.Options) *View {
	return &View{
		Reads:   cachedReads{names: w.ShownAs},
		cluster: w, opts: opts, lag: func(schema.GroupVersionKind) int { return 0 },
		kinds:   map[schema.GroupVersionKind]*viewKind{},
		kept:    map[schema.GroupVersionKind]*kept{},
		indexes: map[schema.GroupVersionKind]map[string]client.IndexerFunc{},
	}
}

// Disturb sets how events are dropped, duplicated and reordered (nil does not change them) and by how many passes caches lag, by kind.
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

// WaitForCacheSync returns true: a view lists a kind on first use.
func (v *View) WaitForCacheSync(context.Context) bool { return true }

// lagOf converts the delays of a case to those of kinds.
func lagOf(delays map[string]int) func(schema.GroupVersionKind) int {
	return func(gvk schema.GroupVersionKind) int {
		if d, known := delays[gvk.Kind]; known {
			return d
		}
		return delays[""]
	}
}

// Names returns the cached kinds, for the cases in which one of them lags.
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

// Whole returns the kinds whose objects are cached entirely only because the options do not define how a controller reduces them, sorted.
func (v *View) Whole() []string {
	v.mu.Lock()
	defer v.mu.Unlock()
	return slices.Sorted(slices.Values(v.whole))
}

// kept are the cache options of a kind.
type kept struct {
	labels     labels.Selector // nil keeps all
	fields     fields.Selector // nil keeps all
	namespaces []string        // none keeps all
	transform  toolscache.TransformFunc
}

// Event is one change: Before is nil for a new object, After for a deleted one.
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
	store    *store // nil if it keeps entire objects
}

// registration is a handler; it receives the existing objects when it is added.
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

// decider is an informer that reduces objects, such as those of controller.CacheOptions, which store only metadata of other owners'
// objects. It does not run: the view updates its store.
type decider interface {
	toolscache.SharedIndexInformer
	// Begin records that the informer runs.
	Begin()
	// Reduce returns the stored form of an object, which it may modify.
	Reduce(object any) (any, error)
	// Accept returns the wrapped form of an event handler.
	Accept(handler toolscache.ResourceEventHandler) (toolscache.ResourceEventHandler, error)
}

// store is the store of a decider for a kind in one representation.
type store struct {
	decider

	items    map[types.NamespacedName]item
	replaced map[*unstructured.Unstructured]any // by the last events
}

// item is the reduced form of a version of an object.
type item struct {
	from *unstructured.Unstructured
	kept any
}
