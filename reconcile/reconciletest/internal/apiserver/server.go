package apiserver

import (
	"fmt"
	"maps"
	"sync"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/testing"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/reconcilekit/reconcilekit/internal/plural"
	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/internal/objects"
)

// Server is a fast API server for tests: controller-runtime's fake client over a [tracker], behind a client that supports every
// representation of an object and the options that the fake client lacks.
type Server struct {
	mu      sync.Mutex // serializes requests, so that the order of writes is the order of versions
	scheme  *runtime.Scheme
	Mapper  meta.RESTMapper
	tracker *tracker
	store   client.WithWatch // unstructured only
	Client  client.WithWatch
	cluster map[schema.GroupVersionKind]bool
	dry     map[string]bool // resourceVersions of dry runs, which watches omit
}

// New returns an empty server. The first object of a name gets the UID reserved for the name; other UIDs are numbered.
func New(scheme *runtime.Scheme, b *Blueprint, clk clock.PassiveClock, uids map[string]types.UID) *Server {
	private := runtime.NewScheme()
	w := &Server{scheme: scheme, cluster: b.cluster, Mapper: b.mapper, dry: map[string]bool{}}
	w.tracker = &tracker{
		ObjectTracker: testing.NewObjectTracker(private, serializer.NewCodecFactory(private).UniversalDecoder()),
		Blueprint:     b, scheme: private, clock: clk,
		kinds: map[schema.GroupVersionResource]schema.GroupVersionKind{},
		used:  map[schema.GroupVersionKind]bool{}, reserved: uids,
	}
	for _, gvk := range b.kinds {
		w.tracker.register(gvk)
	}
	builder := fake.NewClientBuilder().WithScheme(private).WithRESTMapper(w.Mapper).WithObjectTracker(w.tracker).
		WithReturnManagedFields().WithGlobalResourceVersionCounter()
	for gvk := range b.withStatus {
		u := &unstructured.Unstructured{}
		u.SetGroupVersionKind(gvk)
		builder.WithStatusSubresource(u)
	}
	w.store = w.second(builder)
	w.Client = interceptor.NewClient(&foreignScheme{w.store, scheme}, w.funcs())
	return w
}

// second builds the store whose first write has version 2, as the first write to an empty etcd is its second revision: no object has
// version 1, which a create by apply requires.
func (w *Server) second(builder *fake.ClientBuilder) client.WithWatch {
	first := &unstructured.Unstructured{}
	first.SetGroupVersionKind(schema.GroupVersionKind{Group: "reconciletest", Version: "v1", Kind: "First"})
	first.SetName("first")
	w.tracker.scheme.AddKnownTypeWithName(first.GroupVersionKind(), first)
	store := builder.WithObjects(first).Build()
	_ = w.tracker.ObjectTracker.Delete(storedAs(first.GroupVersionKind()), "", first.GetName()) // created one line above
	return store
}

// Redefine replaces the definitions of the same kinds, as an upgrade does. It does not change stored objects.
func (w *Server) Redefine(b *Blueprint) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.tracker.Blueprint = b
}

// foreignScheme makes the store, which knows no Go types, report the scheme of the test.
type foreignScheme struct {
	client.WithWatch
	scheme *runtime.Scheme
}

func (f *foreignScheme) Scheme() *runtime.Scheme { return f.scheme }

func (f *foreignScheme) GroupVersionKindFor(obj runtime.Object) (schema.GroupVersionKind, error) {
	return apiutil.GVKForObject(obj, f.scheme)
}

func (f *foreignScheme) IsObjectNamespaced(obj runtime.Object) (bool, error) {
	return apiutil.IsObjectNamespaced(obj, f.scheme, f.RESTMapper())
}

// Used returns the kinds that have had objects.
func (w *Server) Used() map[schema.GroupVersionKind]bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return maps.Clone(w.tracker.used)
}

// Kinds returns all known kinds by resource.
func (w *Server) Kinds() map[schema.GroupVersionResource]schema.GroupVersionKind {
	w.mu.Lock()
	defer w.mu.Unlock()
	return maps.Clone(w.tracker.kinds)
}

// ClusterScoped reports whether a kind is cluster-scoped.
func (w *Server) ClusterScoped(gvk schema.GroupVersionKind) bool { return w.cluster[gvk] }

// Revision grows with every change.
func (w *Server) Revision() uint64 { return w.tracker.revision.Load() }

// List returns the stored objects of a kind. The caller must not modify them.
func (w *Server) List(gvk schema.GroupVersionKind) (map[types.NamespacedName]*unstructured.Unstructured, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.list(gvk)
}

func (w *Server) list(gvk schema.GroupVersionKind) (map[types.NamespacedName]*unstructured.Unstructured, error) {
	gvr := storedAs(gvk)
	if _, known := w.tracker.kinds[gvr]; !known {
		return nil, nil
	}
	listed, err := w.tracker.List(gvr, gvk, "")
	if err != nil {
		return nil, fmt.Errorf("list %s: %w", gvk, err)
	}
	items, err := meta.ExtractList(listed)
	if err != nil {
		return nil, fmt.Errorf("list %s: %w", gvk, err)
	}
	out := make(map[types.NamespacedName]*unstructured.Unstructured, len(items))
	for _, item := range items {
		u, err := w.tracker.content(gvr, item)
		if err != nil {
			return nil, err
		}
		out[client.ObjectKeyFromObject(u)] = u
	}
	return out, nil
}

// current returns the stored object, nil if there is none.
func (w *Server) current(gvk schema.GroupVersionKind, key client.ObjectKey) *unstructured.Unstructured {
	if w.cluster[gvk] {
		key.Namespace = ""
	}
	u, err := w.tracker.stored(storedAs(gvk), key.Namespace, key.Name)
	if err != nil {
		return nil
	}
	return u
}

// write executes one write of the store and reads the result. A dry run is reverted.
func (w *Server) write(
	gvk schema.GroupVersionKind, u *unstructured.Unstructured, subresource string, dryRun []string, do func() error,
) error {
	gvr := storedAs(gvk)
	key := client.ObjectKeyFromObject(u)
	before := w.current(gvk, key)
	revision := w.tracker.revision.Load()
	w.tracker.subresource = subresource
	defer func() { w.tracker.subresource = "" }()
	if err := do(); err != nil {
		return err
	}
	after := w.current(gvk, client.ObjectKeyFromObject(u))
	if after != nil {
		u.Object = after.DeepCopy().Object
	}
	if len(dryRun) == 0 {
		return nil
	}
	w.tracker.revision.Store(revision)
	if after != nil {
		w.dry[after.GetResourceVersion()] = true
	}
	key = client.ObjectKeyFromObject(u)
	switch {
	case before == nil && after != nil:
		return w.tracker.ObjectTracker.Delete(gvr, key.Namespace, key.Name)
	case before != nil && after == nil:
		return w.tracker.ObjectTracker.Create(gvr, before, key.Namespace)
	case before != nil:
		return w.tracker.ObjectTracker.Update(gvr, before, key.Namespace)
	}
	return nil
}

// unstructuredOf returns the object in its wire format, with its kind in the scheme of the test.
func (w *Server) unstructuredOf(obj runtime.Object) (*unstructured.Unstructured, schema.GroupVersionKind, error) {
	gvk, err := apiutil.GVKForObject(obj, w.scheme)
	if err != nil {
		return nil, gvk, err
	}
	w.tracker.register(gvk)
	u, err := objects.ToUnstructured(obj, gvk)
	if err == nil && w.cluster[gvk] {
		u.SetNamespace("")
	}
	return u, gvk, err
}

func (w *Server) resource(gvk schema.GroupVersionKind) schema.GroupResource {
	if mapping, err := w.Mapper.RESTMapping(gvk.GroupKind(), gvk.Version); err == nil {
		return mapping.Resource.GroupResource()
	}
	return schema.GroupResource{Group: gvk.Group, Resource: plural.Of(gvk.Kind)}
}
