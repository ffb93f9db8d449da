package sparse

import (
	"strings"

	"k8s.io/apimachinery/pkg/types"
	toolscache "k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// OursField is a field that selects, with the value "", all objects that a sparse informer keeps in full because they belong to
// controllers. No other list uses it: it is not a path of an object.
const OursField = "\x00ours"

// view is the store with kept objects instead of their metadata. A read by name of any other object is an error. In a list such an object
// stays without the Go type of the kind, which typed lists refuse.
type view struct {
	toolscache.Indexer

	informer *Informer
}

// Get implements toolscache.Store.
func (v *view) Get(object any) (item any, exists bool, err error) {
	key, err := toolscache.DeletionHandlingMetaNamespaceKeyFunc(object)
	if err != nil {
		return nil, false, err
	}
	return v.GetByKey(key)
}

// GetByKey implements toolscache.Store.
func (v *view) GetByKey(key string) (item any, exists bool, err error) {
	item, exists, err = v.Indexer.GetByKey(key)
	m, ok := item.(*metadataOnly)
	if err != nil || !exists || !ok {
		return item, exists, err
	}
	object, gone := v.informer.found(m)
	switch {
	case gone:
		return nil, false, nil
	case object == nil:
		return nil, true, &MetadataOnlyError{informer: v.informer, of: m}
	}
	return object, true, nil
}

// AddIndexers implements toolscache.Indexer.
func (v *view) AddIndexers(indexers toolscache.Indexers) error {
	return v.informer.AddIndexers(indexers)
}

// List implements toolscache.Store.
func (v *view) List() []any { return v.resolve(v.Indexer.List()) }

// Index implements toolscache.Indexer.
func (v *view) Index(name string, object any) ([]any, error) {
	items, err := v.Indexer.Index(name, object)
	return v.resolve(items), err
}

// ByIndex implements toolscache.Indexer. An index over a field expects namespace/value.
func (v *view) ByIndex(name, value string) ([]any, error) {
	if name == "field:"+OursField {
		namespace, _, _ := strings.Cut(value, "/")
		return v.ours(namespace)
	}
	items, err := v.Indexer.ByIndex(name, value)
	return v.resolve(items), err
}

// allNamespaces is the namespace with which controller-runtime queries an index over a field for all namespaces.
const allNamespaces = "__all_namespaces"

// ours lists the objects that the store itself has in full.
func (v *view) ours(namespace string) (whole []any, err error) {
	var items []any
	if namespace == allNamespaces {
		items = v.Indexer.List()
	} else if items, err = v.Indexer.ByIndex(toolscache.NamespaceIndex, namespace); err != nil {
		return nil, err
	}
	for _, item := range items {
		if _, ok := item.(*metadataOnly); !ok {
			whole = append(whole, item)
		}
	}
	return whole, nil
}

// resolve replaces metadata with kept objects, and omits deleted objects.
func (v *view) resolve(items []any) []any {
	out := items[:0]
	for _, item := range items {
		if m, ok := item.(*metadataOnly); ok {
			object, gone := v.informer.found(m)
			if gone {
				continue
			}
			if object != nil {
				item = object
			}
		}
		out = append(out, item)
	}
	return out
}

// missing appends the matching objects whose metadata alone is cached.
func (v *view) missing(found []Absent, namespace string, matches func(*metadataOnly) bool) []Absent {
	items := []any{}
	if namespace == "" {
		items = v.Indexer.List()
	} else if in, err := v.Indexer.ByIndex(toolscache.NamespaceIndex, namespace); err == nil { // every informer of a cache has this index
		items = in
	}
	for _, item := range items {
		m, ok := item.(*metadataOnly)
		if !ok || !matches(m) {
			continue
		}
		if object, gone := v.informer.found(m); object == nil && !gone {
			uid, _ := m.identity()
			found = append(found, Absent{Key: types.NamespacedName{Namespace: m.namespace, Name: m.name}, informer: v.informer, uid: uid})
		}
	}
	return found
}

// Missing returns the matching objects whose metadata alone is cached; an empty namespace means all. Matches receives the cached form.
func (l *Link) Missing(namespace string, matches func(client.Object) bool) (found []Absent) {
	for _, i := range l.joined() {
		v := &view{i.SharedIndexInformer.GetIndexer(), i}
		found = v.missing(found, namespace, func(m *metadataOnly) bool { return matches(m.partial(i.kind)) })
	}
	return found
}

// Absent is an object whose metadata alone an informer has.
type Absent struct {
	// Key is the name of the object.
	Key      types.NamespacedName
	informer *Informer
	uid      types.UID
}

// Take adds the object of a live read to the cache, which owns it from then on.
func (a Absent) Take(object client.Object) { a.informer.take(object) }

// Gone records that the object no longer exists.
func (a Absent) Gone() { a.informer.goneFor(a.Key, a.uid) }
