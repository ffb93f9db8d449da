package world

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
	"sigs.k8s.io/controller-runtime/pkg/manager"

	"github.com/reconcilekit/reconcilekit/internal/plural"
	"github.com/reconcilekit/reconcilekit/reconcile/internal/external"
	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/internal/apiserver"
	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/internal/description"
	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/internal/objects"
	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/internal/schedule"
)

// World is the cluster of one run, fake or real, and its time.
type World struct {
	System    description.Prepared
	Scheme    *runtime.Scheme
	Mapper    meta.RESTMapper
	Clock     *schedule.Clock
	Client    client.WithWatch      // of the test, not counted
	Fake      *apiserver.Server     // nil on a real API server
	Outside   any                   // of the cluster, nil for nothing
	Outer     external.MemoryClaims // claims of what is outside
	namespace string
	Reversed  bool // caches list backwards
	Off       bool // the operator is switched off, see Singleton
	Slow      bool // the others act only when the operator has nothing left to do
	Frozen    bool // the others do not act at all
	Listen    bool // what is logged is kept
	Refusing  bool // a refusal lasts until it is lifted
	Perpetual bool // something changes at times of its own, again and again
	Began     time.Time
	Until     time.Time // when the current step ends, for a system with a horizon

	mu        sync.Mutex
	withdrawn schema.GroupKind                 // a kind that is not served
	touched   map[schema.GroupVersionKind]bool // kinds that a real world may have objects of; informers start at once
}

// New makes a world with what is given in it. Namespace is for a real API server; the fake one uses "default".
func New(ctx context.Context, system description.Prepared, namespace string) (*World, error) {
	w := &World{
		System: system, Scheme: system.Scheme, namespace: description.TestNamespace, touched: map[schema.GroupVersionKind]bool{},
		Clock: schedule.NewClock(time.Date(2026, time.January, 1, 0, 0, 0, 0, time.UTC)),
	}
	if err := w.connect(namespace); err != nil {
		return nil, err
	}
	if system.Outside != nil {
		w.Outside = system.Outside()
	}
	w.Began = w.Clock.Now()
	for _, obj := range system.Given {
		if err := w.Add(ctx, obj); err != nil {
			return nil, err
		}
	}
	return w, nil
}

func (w *World) connect(namespace string) error {
	if w.System.Environment == nil {
		w.Fake = apiserver.New(w.Scheme, w.System.Blueprint, w.Clock, w.System.Uids)
		w.Client, w.Mapper = w.Fake.Client, w.Fake.Mapper
		return nil
	}
	config := w.System.Environment.Config()
	if config == nil {
		return errors.New("system: its Environment does not run: call Main from TestMain, or Setup from BeforeSuite")
	}
	c, err := client.NewWithWatch(config, client.Options{Scheme: w.Scheme})
	if err != nil {
		return fmt.Errorf("system: connect to its Environment: %w", err)
	}
	w.Client, w.Mapper, w.namespace = c, c.RESTMapper(), namespace
	w.Clock.Set(time.Now())
	return nil
}

// Add creates a copy of an object, in the namespace of the test unless it names one, and stores its status.
func (w *World) Add(ctx context.Context, obj client.Object) error {
	created := obj.DeepCopyObject().(client.Object) //nolint:forcetypeassert // a deep copy has the type of its original
	gvk, err := w.Place(created)
	if err != nil {
		return fmt.Errorf("add %s: %w", obj.GetName(), err)
	}
	wanted, err := objects.ToUnstructured(created, gvk)
	if err != nil {
		return err
	}
	if err := w.Client.Create(ctx, created); err != nil {
		return fmt.Errorf("add %s: %w", objects.Name(gvk, client.ObjectKeyFromObject(created)), err)
	}
	status, ok := wanted.Object["status"].(map[string]any)
	if !ok || len(status) == 0 {
		return nil
	}
	stored := &unstructured.Unstructured{}
	stored.SetGroupVersionKind(gvk)
	if err := w.Client.Get(ctx, client.ObjectKeyFromObject(created), stored); err != nil {
		return fmt.Errorf("add the status of %s: %w", obj.GetName(), err)
	}
	if objects.Equal(stored.Object["status"], status) {
		return nil
	}
	stored.Object["status"] = status
	if err := w.Client.Status().Update(ctx, stored); client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("add the status of %s: %w", obj.GetName(), err)
	}
	return nil
}

// Place gives an object the namespace of the test when it needs one and names none.
func (w *World) Place(obj client.Object) (schema.GroupVersionKind, error) {
	gvk, err := apiutil.GVKForObject(obj, w.Scheme)
	if err != nil {
		return gvk, err
	}
	w.Touch(gvk)
	namespaced, err := apiutil.IsGVKNamespaced(gvk, w.Mapper)
	if err != nil {
		return gvk, err
	}
	if namespaced && obj.GetNamespace() == "" {
		obj.SetNamespace(w.namespace)
	}
	return gvk, nil
}

// Touch notes that there may be objects of a kind, for a real API server, which is not asked for all kinds.
func (w *World) Touch(gvk schema.GroupVersionKind) {
	if w.Fake == nil {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.touched[gvk] = true
	}
}

// Kinds are those that there may be objects of, sorted.
func (w *World) Kinds() []schema.GroupVersionKind {
	w.mu.Lock()
	defer w.mu.Unlock()
	used := w.touched
	if w.Fake != nil {
		used = w.Fake.Used()
	}
	kinds := make([]schema.GroupVersionKind, 0, len(used))
	for gvk := range used {
		kinds = append(kinds, gvk)
	}
	slices.SortFunc(kinds, objects.CompareKinds)
	return kinds
}

// List returns the objects of a kind: all of the fake world, and on a real server those of the test's namespace and the
// cluster-scoped ones.
func (w *World) List(gvk schema.GroupVersionKind) (Snapshot, error) {
	if w.Fake != nil {
		return w.Fake.List(gvk)
	}
	w.Touch(gvk)
	list := &unstructured.UnstructuredList{}
	list.SetGroupVersionKind(gvk.GroupVersion().WithKind(gvk.Kind + "List"))
	var opts []client.ListOption
	if namespaced, err := apiutil.IsGVKNamespaced(gvk, w.Mapper); err != nil {
		return nil, err
	} else if namespaced {
		opts = append(opts, client.InNamespace(w.namespace))
	}
	if err := w.Client.List(context.Background(), list, opts...); err != nil {
		return nil, fmt.Errorf("list %s: %w", gvk, err)
	}
	out := make(Snapshot, len(list.Items))
	for i := range list.Items {
		out[client.ObjectKeyFromObject(&list.Items[i])] = &list.Items[i]
	}
	return out, nil
}

// Revision grows with every change; only the fake world can count it.
func (w *World) Revision() (revision uint64, countable bool) {
	if w.Fake == nil {
		return 0, false
	}
	return w.Fake.Revision(), true
}

// Resource is the resource of a kind; that of a kind that nobody has defined is guessed.
func (w *World) Resource(gvk schema.GroupVersionKind) schema.GroupResource {
	if mapping, err := w.Mapper.RESTMapping(gvk.GroupKind(), gvk.Version); err == nil {
		return mapping.Resource.GroupResource()
	}
	return schema.GroupResource{Group: gvk.Group, Resource: plural.Of(gvk.Kind)}
}

// All are the objects of the world by kind.
func (w *World) All() (map[schema.GroupVersionKind]Snapshot, error) {
	out := map[schema.GroupVersionKind]Snapshot{}
	for _, gvk := range w.Kinds() {
		items, err := w.List(gvk)
		if err != nil {
			return nil, err
		}
		out[gvk] = items
	}
	return out, nil
}

// Versions are the resourceVersions of all objects by UID: what differs has been written.
func (w *World) Versions() (map[types.UID]string, error) {
	all, err := w.All()
	if err != nil {
		return nil, err
	}
	out := map[types.UID]string{}
	for _, items := range all {
		for _, u := range items {
			out[u.GetUID()] = u.GetResourceVersion()
		}
	}
	return out, nil
}

// others is the client of everybody else. On a real API server, which other tests use too, its lists are of the test's
// namespace.
func (w *World) others() client.Client {
	if w.Fake != nil {
		return w.Client
	}
	return interceptor.NewClient(w.Client, interceptor.Funcs{
		List: func(ctx context.Context, c client.WithWatch, list client.ObjectList, opts ...client.ListOption) error {
			var options client.ListOptions
			options.ApplyOptions(opts)
			gvk, err := objects.ListedKind(list, w.Scheme)
			if err != nil {
				return err
			}
			namespaced, err := apiutil.IsGVKNamespaced(gvk, w.Mapper)
			if err != nil {
				return err
			}
			if namespaced && options.Namespace == "" {
				opts = append(opts, client.InNamespace(w.namespace))
			}
			return c.List(ctx, list, opts...)
		},
	})
}

// outsideKey is the key of what is outside in the context of a stand-in.
type outsideKey struct{}

// OutsideFrom returns what is outside of the cluster of the world that a stand-in is called on, nil for any other context.
func OutsideFrom(ctx context.Context) any { return ctx.Value(outsideKey{}) }

// slowKey is the key in the context of a stand-in that is slow.
type slowKey struct{}

// SlowFrom reports whether the others of the world that a stand-in is called on are slow: what they do in several steps is then seen
// after each of them.
func SlowFrom(ctx context.Context) bool { return ctx.Value(slowKey{}) != nil }

const worldRounds = 50

var errRestless = errors.New("the stand-ins never come to rest: does one of them write when nothing is left to do?")

// Turn lets everybody but the operator act until nothing changes: the stand-ins and garbage collection.
func (w *World) Turn(ctx context.Context) error {
	others := w.others()
	ctx = context.WithValue(ctx, outsideKey{}, w.Outside)
	if w.Slow {
		ctx = context.WithValue(ctx, slowKey{}, true)
	}
	for range worldRounds {
		before, countable := w.Revision()
		for _, act := range w.System.StandIns {
			if w.Frozen {
				break
			}
			if err := act(ctx, others); err != nil {
				return fmt.Errorf("stand-in: %w", err)
			}
		}
		if err := w.collect(ctx); err != nil {
			return err
		}
		if err := w.cleanUp(ctx); err != nil {
			return err
		}
		if after, _ := w.Revision(); !countable || after == before || w.Slow {
			return nil // the slow ones are asked again when the operator has seen this
		}
	}
	return errRestless
}

// Setup is that of the operator as the current step wants it.
func (w *World) Setup() func(mgr manager.Manager) error {
	if w.Off {
		return w.System.Singleton.Off
	}
	return w.System.Setup
}

// Snapshot is all objects of one kind at one moment. Nobody changes it.
type Snapshot map[types.NamespacedName]*unstructured.Unstructured
