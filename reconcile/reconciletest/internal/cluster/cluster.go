package cluster

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

// Cluster is the cluster of one run, fake or real, and its clock.
type Cluster struct {
	System    description.Prepared
	Scheme    *runtime.Scheme
	Mapper    meta.RESTMapper
	Clock     *schedule.Clock
	Client    client.WithWatch      // of the test, not counted
	Fake      *apiserver.Server     // nil on a real API server
	Outside   any                   // external dependencies, nil for none
	Outer     external.MemoryClaims // claims of external resources
	namespace string
	Reversed  bool // caches list in reverse order
	Off       bool // the operator is disabled, see Singleton
	Slow      bool // the others act only when the operator is idle
	Frozen    bool // the others do not act at all
	Listen    bool // the log is recorded
	Refusing  bool // a rejection lasts until it is ended
	Perpetual bool // the system changes something on a schedule
	Began     time.Time
	Until     time.Time // end of the current step, for a system with a horizon

	mu        sync.Mutex
	withdrawn schema.GroupKind                 // a kind that is not served
	touched   map[schema.GroupVersionKind]bool // kinds that a real cluster may contain; informers start immediately
}

// New creates a cluster with the given objects. namespace is for a real API server; the fake one uses "default".
func New(ctx context.Context, system description.Prepared, namespace string) (*Cluster, error) {
	w := &Cluster{
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

func (w *Cluster) connect(namespace string) error {
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

// Add creates a copy of an object, by default in the namespace of the test, and stores its status.
func (w *Cluster) Add(ctx context.Context, obj client.Object) error {
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

// Place sets the namespace of the test on a namespaced object without one.
func (w *Cluster) Place(obj client.Object) (schema.GroupVersionKind, error) {
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

// Touch records that objects of a kind may exist, for a real API server, where not all kinds are listed.
func (w *Cluster) Touch(gvk schema.GroupVersionKind) {
	if w.Fake == nil {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.touched[gvk] = true
	}
}

// Kinds returns the kinds that may have objects, sorted.
func (w *Cluster) Kinds() []schema.GroupVersionKind {
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

// List returns the objects of a kind: all objects of the fake API server, and on a real server those of the test's namespace and the
// cluster-scoped ones.
func (w *Cluster) List(gvk schema.GroupVersionKind) (Snapshot, error) {
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

// Revision grows with every change. Only the fake API server is countable.
func (w *Cluster) Revision() (revision uint64, countable bool) {
	if w.Fake == nil {
		return 0, false
	}
	return w.Fake.Revision(), true
}

// Resource returns the resource of a kind; it is guessed for a kind without a definition.
func (w *Cluster) Resource(gvk schema.GroupVersionKind) schema.GroupResource {
	if mapping, err := w.Mapper.RESTMapping(gvk.GroupKind(), gvk.Version); err == nil {
		return mapping.Resource.GroupResource()
	}
	return schema.GroupResource{Group: gvk.Group, Resource: plural.Of(gvk.Kind)}
}

// All returns the objects of the cluster by kind.
func (w *Cluster) All() (map[schema.GroupVersionKind]Snapshot, error) {
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

// Versions returns the resourceVersions of all objects by UID, to detect writes.
func (w *Cluster) Versions() (map[types.UID]string, error) {
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

// others returns the client of all other controllers. On a real API server, which other tests use too, its lists are restricted to the
// test's namespace.
func (w *Cluster) others() client.Client {
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

// outsideKey is the context key of the external dependencies for a stand-in.
type outsideKey struct{}

// OutsideFrom returns the external dependencies of the cluster of a stand-in's context, nil for any other context.
func OutsideFrom(ctx context.Context) any { return ctx.Value(outsideKey{}) }

// slowKey is the context key of a slow stand-in.
type slowKey struct{}

// SlowFrom reports whether the stand-ins of the context's cluster are slow: the operator then sees each of their steps.
func SlowFrom(ctx context.Context) bool { return ctx.Value(slowKey{}) != nil }

const standInRounds = 50

var errStandInsNeverStop = errors.New("the stand-ins never stop writing: does one of them write without a change?")

// Turn runs all other controllers until nothing changes: the stand-ins and garbage collection.
func (w *Cluster) Turn(ctx context.Context) error {
	others := w.others()
	ctx = context.WithValue(ctx, outsideKey{}, w.Outside)
	if w.Slow {
		ctx = context.WithValue(ctx, slowKey{}, true)
	}
	for range standInRounds {
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
			return nil // slow ones run again when the operator has seen this
		}
	}
	return errStandInsNeverStop
}

// Setup returns the operator's setup for the current step.
func (w *Cluster) Setup() func(mgr manager.Manager) error {
	if w.Off {
		return w.System.Singleton.Off
	}
	return w.System.Setup
}

// Snapshot is all objects of one kind at one moment. It must not be modified.
type Snapshot map[types.NamespacedName]*unstructured.Unstructured
