package view

import (
	"context"
	"fmt"
	"reflect"
	"slices"
	"sync"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"

	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/internal/objects"
	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/internal/requests"
	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/internal/rights"
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

var _ cache.Cache = (*View)(nil)

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

// kind returns what the cache knows of a kind, which it lists when it is asked for it for the first time.
func (v *View) kind(gvk schema.GroupVersionKind) (*viewKind, error) {
	if k := v.kinds[gvk]; k != nil {
		return k, nil
	}
	if err := v.world.Served(gvk.GroupKind(), gvk.Version); err != nil {
		return nil, err
	}
	if rules := v.world.System.Rules; rules != nil {
		for _, verb := range []string{"list", "watch"} {
			resource := v.world.Resource(gvk)
			if !rights.Allowed(rules, requests.Request{Verb: verb, Group: resource.Group, Resource: resource.Resource}) {
				return nil, apierrors.NewForbidden(resource, "", fmt.Errorf("%w: add the verb %q", rights.ErrNotDeclared, verb))
			}
		}
	}
	state, err := v.world.List(gvk)
	if err != nil {
		return nil, err
	}
	state = v.filter(gvk, state)
	k := &viewKind{
		resource: v.world.Resource(gvk), shown: state, newest: state, informers: map[representation]*informer{},
		converted: map[representation]map[types.NamespacedName]converted{},
	}
	if past := v.Past; past != nil && (past.Kind == "" || past.Kind == gvk.Kind) {
		k.shown = v.filter(gvk, past.State[gvk])
		k.pipe = []pending{{v.tick + past.Passes, state}}
	}
	v.kinds[gvk] = k
	return k, nil
}

// object returns an object in the representation; it is shared and must not be changed.
func (v *View) object(
	k *viewKind, gvk schema.GroupVersionKind, as representation, u *unstructured.Unstructured,
) (client.Object, error) {
	transform := v.keeps(gvk).transform
	if as == "unstructured" && transform == nil {
		return u, nil
	}
	key := client.ObjectKeyFromObject(u)
	if c := k.converted[as][key]; c.from == u {
		return c.to, nil
	}
	out, err := v.convert(gvk, as, u)
	if err != nil {
		return nil, err
	}
	if transform != nil {
		changed, err := transform(out.DeepCopyObject())
		if o, ok := changed.(client.Object); err == nil && ok {
			out = o
		}
	}
	if k.converted[as] == nil {
		k.converted[as] = map[types.NamespacedName]converted{}
	}
	k.converted[as][key] = converted{from: u, to: out}
	return out, nil
}

// Get reads one object as the cache shows it.
func (v *View) Get(_ context.Context, key client.ObjectKey, into client.Object, opts ...client.GetOption) error {
	options := client.GetOptions{}
	options.ApplyOptions(opts)
	gvk, err := apiutil.GVKForObject(into, v.world.Scheme)
	if err != nil {
		return err
	}
	if err := v.Reads.read(cachedRead{kind: gvk.GroupKind(), key: key}); err != nil {
		return err
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	k, err := v.kind(gvk)
	if err != nil {
		return err
	}
	if err := v.keeps(gvk).in("get", key.Namespace); err != nil {
		return err
	}
	obj, err := v.one(k, gvk, representationOf(into), key)
	if err != nil {
		return err
	}
	if obj == nil {
		return apierrors.NewNotFound(k.resource, key.Name)
	}
	if options.UnsafeDisableDeepCopy == nil || !*options.UnsafeDisableDeepCopy {
		obj = obj.DeepCopyObject().(client.Object) //nolint:forcetypeassert // a deep copy has the type of its original
	}
	reflect.ValueOf(into).Elem().Set(reflect.ValueOf(obj).Elem())
	return nil
}

// one returns an object as the cache has it, nil when there is none; it is shared and must not be changed.
func (v *View) one(k *viewKind, gvk schema.GroupVersionKind, as representation, key client.ObjectKey) (client.Object, error) {
	s, err := v.storeOf(k, gvk, as)
	if err != nil {
		return nil, err
	}
	if s != nil {
		return s.get(gvk, key)
	}
	u := k.shown[key]
	if u == nil {
		return nil, nil //nolint:nilnil // see above
	}
	return v.object(k, gvk, as, u)
}

// List reads the objects that the options select, as the cache shows them. Unlike a real one it sorts them, so that a
// run can be repeated; [Converge] reverses the order in some of its cases.
func (v *View) List(_ context.Context, into client.ObjectList, opts ...client.ListOption) error {
	options := client.ListOptions{}
	options.ApplyOptions(opts)
	gvk, err := objects.ListedKind(into, v.world.Scheme)
	if err != nil {
		return err
	}
	listed := cachedRead{kind: gvk.GroupKind(), key: types.NamespacedName{Namespace: options.Namespace}, list: true}
	if err := v.Reads.read(listed); err != nil {
		return err
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	k, err := v.kind(gvk)
	if err != nil {
		return err
	}
	if err := v.keeps(gvk).in("list", options.Namespace); err != nil {
		return err
	}
	items, err := v.several(k, gvk, representationOf(into), &options)
	if err != nil {
		return err
	}
	if options.UnsafeDisableDeepCopy == nil || !*options.UnsafeDisableDeepCopy {
		for n := range items {
			items[n] = items[n].DeepCopyObject()
		}
	}
	if v.world.Reversed {
		slices.Reverse(items)
	}
	err = meta.SetList(into, items)
	if err != nil && slices.ContainsFunc(items, func(o runtime.Object) bool { _, whole := o.(client.Object); return !whole }) {
		err = &PartialError{What: "a list of the kind " + gvk.Kind, cause: err}
	}
	return err
}

// several returns the objects that the options of a list select, sorted; they are shared and must not be changed.
func (v *View) several(
	k *viewKind, gvk schema.GroupVersionKind, as representation, options *client.ListOptions,
) ([]runtime.Object, error) {
	s, err := v.storeOf(k, gvk, as)
	if err != nil {
		return nil, err
	}
	if s != nil {
		return s.list(options)
	}
	if err := v.indexesFor(gvk, options.FieldSelector); err != nil {
		return nil, err
	}
	var items []runtime.Object
	for _, key := range objects.SortedKeys(k.shown) {
		u := k.shown[key]
		if options.Namespace != "" && key.Namespace != options.Namespace {
			continue
		}
		obj, err := v.object(k, gvk, as, u)
		if err != nil {
			return nil, err
		}
		if options.LabelSelector != nil && !options.LabelSelector.Matches(labels.Set(obj.GetLabels())) {
			continue
		}
		matches, err := objects.MatchesFields(options.FieldSelector, func(name string) ([]string, error) {
			return v.indexed(k, gvk, name, u)
		})
		if err != nil {
			return nil, err
		}
		if matches {
			items = append(items, obj)
		}
	}
	return items, nil
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
