package reconciletest

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

	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/internal/apiserver"
	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/internal/objects"
	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/internal/schedule"
)

// world is the cluster of one run, fake or real, and its time.
type world struct {
	system    prepared
	scheme    *runtime.Scheme
	mapper    meta.RESTMapper
	clock     *schedule.Clock
	client    client.WithWatch  // of the test, not counted
	fake      *apiserver.Server // nil on a real API server
	namespace string
	reversed  bool // caches list backwards
	off       bool // the operator is switched off, see Singleton
	slow      bool // the others act only when the operator has nothing left to do
	frozen    bool // the others do not act at all
	listen    bool // what is logged is kept
	refusing  bool // a refusal lasts until it is lifted
	perpetual bool // something changes at times of its own, again and again
	began     time.Time
	until     time.Time // when the current step ends, for a system with a horizon

	mu      sync.Mutex
	touched map[schema.GroupVersionKind]bool // kinds that a real world may have objects of; informers start at once
}

// newWorld makes a world with what is given in it. Namespace is for a real API server; the fake one uses "default".
func newWorld(ctx context.Context, system prepared, namespace string) (*world, error) {
	w := &world{
		system: system, scheme: system.Scheme, namespace: testNamespace, touched: map[schema.GroupVersionKind]bool{},
		clock: schedule.NewClock(time.Date(2026, time.January, 1, 0, 0, 0, 0, time.UTC)),
	}
	if err := w.connect(namespace); err != nil {
		return nil, err
	}
	w.began = w.clock.Now()
	for _, obj := range system.Given {
		if err := w.add(ctx, obj); err != nil {
			return nil, err
		}
	}
	return w, nil
}

func (w *world) connect(namespace string) error {
	if w.system.Environment == nil {
		w.fake = apiserver.New(w.scheme, w.system.blueprint, w.clock, w.system.uids)
		w.client, w.mapper = w.fake.Client, w.fake.Mapper
		return nil
	}
	config := w.system.Environment.Config()
	if config == nil {
		return errors.New("system: its Environment does not run: call Main from TestMain, or Setup from BeforeSuite")
	}
	c, err := client.NewWithWatch(config, client.Options{Scheme: w.scheme})
	if err != nil {
		return fmt.Errorf("system: connect to its Environment: %w", err)
	}
	w.client, w.mapper, w.namespace = c, c.RESTMapper(), namespace
	w.clock.Set(time.Now())
	return nil
}

// add creates a copy of an object, in the namespace of the test unless it names one, and stores its status.
func (w *world) add(ctx context.Context, obj client.Object) error {
	created := obj.DeepCopyObject().(client.Object) //nolint:forcetypeassert // a deep copy has the type of its original
	gvk, err := w.place(created)
	if err != nil {
		return fmt.Errorf("add %s: %w", obj.GetName(), err)
	}
	wanted, err := objects.ToUnstructured(created, gvk)
	if err != nil {
		return err
	}
	if err := w.client.Create(ctx, created); err != nil {
		return fmt.Errorf("add %s: %w", objects.Name(gvk, client.ObjectKeyFromObject(created)), err)
	}
	status, ok := wanted.Object["status"].(map[string]any)
	if !ok || len(status) == 0 {
		return nil
	}
	stored := &unstructured.Unstructured{}
	stored.SetGroupVersionKind(gvk)
	if err := w.client.Get(ctx, client.ObjectKeyFromObject(created), stored); err != nil {
		return fmt.Errorf("add the status of %s: %w", obj.GetName(), err)
	}
	if objects.Equal(stored.Object["status"], status) {
		return nil
	}
	stored.Object["status"] = status
	if err := w.client.Status().Update(ctx, stored); client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("add the status of %s: %w", obj.GetName(), err)
	}
	return nil
}

// place gives an object the namespace of the test when it needs one and names none.
func (w *world) place(obj client.Object) (schema.GroupVersionKind, error) {
	gvk, err := apiutil.GVKForObject(obj, w.scheme)
	if err != nil {
		return gvk, err
	}
	w.touch(gvk)
	namespaced, err := apiutil.IsGVKNamespaced(gvk, w.mapper)
	if err != nil {
		return gvk, err
	}
	if namespaced && obj.GetNamespace() == "" {
		obj.SetNamespace(w.namespace)
	}
	return gvk, nil
}

func (w *world) touch(gvk schema.GroupVersionKind) {
	if w.fake == nil {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.touched[gvk] = true
	}
}

// kinds are those that there may be objects of, sorted.
func (w *world) kinds() []schema.GroupVersionKind {
	w.mu.Lock()
	defer w.mu.Unlock()
	used := w.touched
	if w.fake != nil {
		used = w.fake.Used()
	}
	kinds := make([]schema.GroupVersionKind, 0, len(used))
	for gvk := range used {
		kinds = append(kinds, gvk)
	}
	slices.SortFunc(kinds, objects.CompareKinds)
	return kinds
}

// list returns the objects of a kind: all of the fake world, and on a real server those of the test's namespace and the
// cluster-scoped ones.
func (w *world) list(gvk schema.GroupVersionKind) (snapshot, error) {
	if w.fake != nil {
		return w.fake.List(gvk)
	}
	w.touch(gvk)
	list := &unstructured.UnstructuredList{}
	list.SetGroupVersionKind(gvk.GroupVersion().WithKind(gvk.Kind + "List"))
	var opts []client.ListOption
	if namespaced, err := apiutil.IsGVKNamespaced(gvk, w.mapper); err != nil {
		return nil, err
	} else if namespaced {
		opts = append(opts, client.InNamespace(w.namespace))
	}
	if err := w.client.List(context.Background(), list, opts...); err != nil {
		return nil, fmt.Errorf("list %s: %w", gvk, err)
	}
	out := make(snapshot, len(list.Items))
	for i := range list.Items {
		out[client.ObjectKeyFromObject(&list.Items[i])] = &list.Items[i]
	}
	return out, nil
}

// revision grows with every change; only the fake world can count it.
func (w *world) revision() (revision uint64, countable bool) {
	if w.fake == nil {
		return 0, false
	}
	return w.fake.Revision(), true
}

func (w *world) resource(gvk schema.GroupVersionKind) schema.GroupResource {
	if mapping, err := w.mapper.RESTMapping(gvk.GroupKind(), gvk.Version); err == nil {
		return mapping.Resource.GroupResource()
	}
	return apiserver.Plural(gvk).GroupResource()
}

// all are the objects of the world by kind.
func (w *world) all() (map[schema.GroupVersionKind]snapshot, error) {
	out := map[schema.GroupVersionKind]snapshot{}
	for _, gvk := range w.kinds() {
		items, err := w.list(gvk)
		if err != nil {
			return nil, err
		}
		out[gvk] = items
	}
	return out, nil
}

// versions are the resourceVersions of all objects by UID: what differs has been written.
func (w *world) versions() (map[types.UID]string, error) {
	all, err := w.all()
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
func (w *world) others() client.Client {
	if w.fake != nil {
		return w.client
	}
	return interceptor.NewClient(w.client, interceptor.Funcs{
		List: func(ctx context.Context, c client.WithWatch, list client.ObjectList, opts ...client.ListOption) error {
			var options client.ListOptions
			options.ApplyOptions(opts)
			gvk, err := objects.ListedKind(list, w.scheme)
			if err != nil {
				return err
			}
			namespaced, err := apiutil.IsGVKNamespaced(gvk, w.mapper)
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

const worldRounds = 50

var errRestless = errors.New("the stand-ins never come to rest: does one of them write when nothing is left to do?")

// turn lets everybody but the operator act until nothing changes: the stand-ins and garbage collection.
func (w *world) turn(ctx context.Context) error {
	others := w.others()
	for range worldRounds {
		before, countable := w.revision()
		for _, act := range w.system.StandIns {
			if w.frozen {
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
		if after, _ := w.revision(); !countable || after == before {
			return nil
		}
	}
	return errRestless
}

// setup is that of the operator as the current step wants it.
func (w *world) setup() func(mgr manager.Manager) error {
	if w.off {
		return w.system.Singleton.Off
	}
	return w.system.Setup
}

// snapshot is all objects of one kind at one moment. Nobody changes it.
type snapshot map[types.NamespacedName]*unstructured.Unstructured
