package reconciletest

import (
	"cmp"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/managedfields"
	apiversion "k8s.io/apimachinery/pkg/version"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/testing"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
)

// fakeWorld is an API server for tests that need speed: controller-runtime's fake client over a [tracker], behind a
// client that speaks every representation of an object and every option that the fake client leaves out.
type fakeWorld struct {
	mu      sync.Mutex // one request at a time, so that the order of writes is the order of versions
	scheme  *runtime.Scheme
	mapper  meta.RESTMapper
	tracker *tracker
	store   client.WithWatch // speaks unstructured only
	client  client.WithWatch
	cluster map[schema.GroupVersionKind]bool
	dry     map[string]bool // resourceVersions of dry runs, which watches do not tell of
}

// blueprint is what all fake worlds of a system have in common; building it takes longer than a run.
type blueprint struct {
	mapper     *meta.DefaultRESTMapper
	converter  managedfields.TypeConverter
	kinds      []schema.GroupVersionKind
	cluster    map[schema.GroupVersionKind]bool
	withStatus map[schema.GroupVersionKind]bool
	structures map[schema.GroupVersionKind]*apiextensionsv1.JSONSchemaProps
	managers   sync.Map // managerKey to *managedfields.FieldManager
}

// newBlueprint knows the kinds of the scheme and of the definitions. Kinds of the scheme that no definition describes
// and that are not built in count as namespaced, with a status subresource.
func newBlueprint(scheme *runtime.Scheme, definitions []*apiextensionsv1.CustomResourceDefinition) (*blueprint, error) {
	defined := crdKinds(definitions)
	converter, err := newConverters(defined)
	if err != nil {
		return nil, err
	}
	b := &blueprint{
		mapper: meta.NewDefaultRESTMapper(preferred(scheme, defined)), converter: converter, cluster: map[schema.GroupVersionKind]bool{},
		withStatus: map[schema.GroupVersionKind]bool{},
		structures: map[schema.GroupVersionKind]*apiextensionsv1.JSONSchemaProps{},
	}
	known := map[schema.GroupVersionKind]bool{}
	for _, k := range defined {
		known[k.gvk] = true
		b.kinds = append(b.kinds, k.gvk)
		b.structures[k.gvk], b.cluster[k.gvk] = k.structure, k.cluster
		if k.status {
			b.withStatus[k.gvk] = true
		}
		single := k.gvk.GroupVersion().WithResource(strings.ToLower(k.gvk.Kind))
		b.mapper.AddSpecific(k.gvk, k.gvk.GroupVersion().WithResource(k.plural), single, scope(k.cluster))
	}
	for gvk := range scheme.AllKnownTypes() {
		if known[gvk] || gvk.Version == runtime.APIVersionInternal || isList(gvk.Kind) || !isObject(scheme, gvk) {
			continue
		}
		b.kinds = append(b.kinds, gvk)
		b.cluster[gvk] = isClusterScoped(gvk)
		b.mapper.Add(gvk, scope(b.cluster[gvk]))
		if !clientgoscheme.Scheme.Recognizes(gvk) || hasStatus(gvk) {
			b.withStatus[gvk] = true
		}
	}
	return b, nil
}

// preferred lists the versions of all groups, the one first that a server prefers: a mapping of a kind without a version takes
// it, as the prune of kinds that are no longer planned does.
func preferred(scheme *runtime.Scheme, defined []crdKind) []schema.GroupVersion {
	var versions []schema.GroupVersion
	for gvk := range scheme.AllKnownTypes() {
		versions = append(versions, gvk.GroupVersion())
	}
	for _, k := range defined {
		versions = append(versions, k.gvk.GroupVersion())
	}
	slices.SortFunc(versions, func(a, b schema.GroupVersion) int {
		return cmp.Or(strings.Compare(a.Group, b.Group), apiversion.CompareKubeAwareVersionStrings(b.Version, a.Version))
	})
	return slices.DeleteFunc(slices.Compact(versions), func(v schema.GroupVersion) bool { return v.Version == runtime.APIVersionInternal })
}

// newFakeWorld makes an empty world.
func newFakeWorld(scheme *runtime.Scheme, b *blueprint, clk clock.PassiveClock) *fakeWorld {
	private := runtime.NewScheme()
	w := &fakeWorld{scheme: scheme, cluster: b.cluster, mapper: b.mapper, dry: map[string]bool{}}
	w.tracker = &tracker{
		ObjectTracker: testing.NewObjectTracker(private, serializer.NewCodecFactory(private).UniversalDecoder()),
		blueprint:     b, scheme: private, clock: clk,
		kinds: map[schema.GroupVersionResource]schema.GroupVersionKind{},
		used:  map[schema.GroupVersionKind]bool{},
	}
	for _, gvk := range b.kinds {
		w.tracker.register(gvk)
	}
	builder := fake.NewClientBuilder().WithScheme(private).WithRESTMapper(w.mapper).WithObjectTracker(w.tracker).
		WithReturnManagedFields().WithGlobalResourceVersionCounter()
	for gvk := range b.withStatus {
		u := &unstructured.Unstructured{}
		u.SetGroupVersionKind(gvk)
		builder.WithStatusSubresource(u)
	}
	w.store = builder.Build()
	w.client = interceptor.NewClient(&foreignScheme{w.store, scheme}, w.funcs())
	return w
}

// foreignScheme lets the store, which knows no Go types, pass for a client of the scheme of the test.
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

func scope(cluster bool) meta.RESTScope {
	if cluster {
		return meta.RESTScopeRoot
	}
	return meta.RESTScopeNamespace
}

func isObject(scheme *runtime.Scheme, gvk schema.GroupVersionKind) bool {
	obj, err := scheme.New(gvk)
	if err != nil {
		return false
	}
	_, ok := obj.(client.Object)
	return ok
}

// isClusterScoped knows the built-in kinds without a namespace.
func isClusterScoped(gvk schema.GroupVersionKind) bool {
	switch gvk.Group {
	case "":
		return slices.Contains([]string{"Namespace", "Node", "PersistentVolume", "ComponentStatus"}, gvk.Kind)
	case "storage.k8s.io":
		return gvk.Kind != "CSIStorageCapacity"
	case "rbac.authorization.k8s.io":
		return strings.HasPrefix(gvk.Kind, "Cluster")
	case "networking.k8s.io":
		return slices.Contains([]string{"IngressClass", "IPAddress", "ServiceCIDR"}, gvk.Kind)
	case "gateway.networking.k8s.io":
		return gvk.Kind == "GatewayClass"
	case "apiextensions.k8s.io", "admissionregistration.k8s.io", "scheduling.k8s.io", "node.k8s.io", "certificates.k8s.io",
		"flowcontrol.apiserver.k8s.io", "apiregistration.k8s.io", "internal.apiserver.k8s.io", "storagemigration.k8s.io":
		return true
	}
	return false
}

// hasStatus knows the built-in kinds with a status subresource.
func hasStatus(gvk schema.GroupVersionKind) bool {
	switch gvk.Group {
	case "":
		return slices.Contains([]string{
			"Namespace", "Node", "PersistentVolume", "PersistentVolumeClaim", "Pod",
			"ReplicationController", "ResourceQuota", "Service",
		}, gvk.Kind)
	case "apps":
		return gvk.Kind != "ControllerRevision"
	case "batch", "policy", "autoscaling", "apiextensions.k8s.io":
		return true
	case "networking.k8s.io":
		return gvk.Kind == "Ingress" || gvk.Kind == "ServiceCIDR"
	}
	return false
}

// list returns the objects of a kind as they are stored. They must not be changed.
func (w *fakeWorld) list(gvk schema.GroupVersionKind) (map[types.NamespacedName]*unstructured.Unstructured, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	gvr := plural(gvk)
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

// current returns the stored object, nil when there is none.
func (w *fakeWorld) current(gvk schema.GroupVersionKind, key client.ObjectKey) *unstructured.Unstructured {
	if w.cluster[gvk] {
		key.Namespace = ""
	}
	u, err := w.tracker.stored(plural(gvk), key.Namespace, key.Name)
	if err != nil {
		return nil
	}
	return u
}

// write carries out one write of the store and reads back what it has made. A dry run is undone.
func (w *fakeWorld) write(
	gvk schema.GroupVersionKind, u *unstructured.Unstructured, subresource string, dryRun []string, do func() error,
) error {
	gvr := plural(gvk)
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

// unstructuredOf is the object as it would go over the wire, with the kind that the scheme of the test gives it.
func (w *fakeWorld) unstructuredOf(obj runtime.Object) (*unstructured.Unstructured, schema.GroupVersionKind, error) {
	gvk, err := apiutil.GVKForObject(obj, w.scheme)
	if err != nil {
		return nil, gvk, err
	}
	w.tracker.register(gvk)
	u, err := toUnstructured(obj, gvk)
	if err == nil && w.cluster[gvk] {
		u.SetNamespace("")
	}
	return u, gvk, err
}

// toUnstructured copies an object into the form in which worlds are compared and stored: no nulls.
func toUnstructured(obj runtime.Object, gvk schema.GroupVersionKind) (*unstructured.Unstructured, error) {
	var content map[string]any
	if u, ok := obj.(*unstructured.Unstructured); ok {
		content = u.DeepCopy().Object
	} else {
		var err error
		if content, err = runtime.DefaultUnstructuredConverter.ToUnstructured(obj); err != nil {
			return nil, fmt.Errorf("convert %s: %w", gvk, err)
		}
	}
	if content == nil {
		content = map[string]any{}
	}
	dropNulls(content)
	u := &unstructured.Unstructured{Object: content}
	u.SetGroupVersionKind(gvk)
	return u, nil
}

func dropNulls(m map[string]any) {
	for k, v := range m {
		switch v := v.(type) {
		case nil:
			delete(m, k)
		case map[string]any:
			dropNulls(v)
		case []any:
			for _, e := range v {
				if e, ok := e.(map[string]any); ok {
					dropNulls(e)
				}
			}
		}
	}
}

// fromUnstructured fills an object of any representation.
func fromUnstructured(u *unstructured.Unstructured, into client.Object) error {
	switch into := into.(type) {
	case *unstructured.Unstructured:
		into.Object = u.DeepCopy().Object
		return nil
	case *metav1.PartialObjectMetadata:
		*into = *meta.AsPartialObjectMetadata(u.DeepCopy())
		into.SetGroupVersionKind(u.GroupVersionKind())
		return nil
	}
	value := reflect.ValueOf(into).Elem()
	value.SetZero()
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(u.Object, into); err != nil {
		return fmt.Errorf("convert %s %s: %w", u.GetKind(), u.GetName(), err)
	}
	return nil
}
