package sparse

import (
	"strings"

	"k8s.io/apimachinery/pkg/types"
	toolscache "k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// OursField is a field by which all objects of a sparse informer can be listed that it keeps whole because they are ours, with the value "". No list
// of others has it: it is no path of an object.
const OursField = "\x00ours"

// view is the store with what is kept whole in the place of its metadata. What is not kept is an error of a read by name, and stays without a
// Go type of the kind in a list, which no list of the kind takes.
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

// ByIndex implements toolscache.Indexer. An index over a field is asked for namespace/value.
func (v *view) ByIndex(name, value string) ([]any, error) {
	if name == "field:"+OursField {
		namespace, _, _ := strings.Cut(value, "/")
		return v.ours(namespace)
	}
	items, err := v.Indexer.ByIndex(name, value)
	return v.resolve(items), err
}

// allNamespaces is how an index over a field is asked for those of all namespaces, by controller-runtime.
const allNamespaces = "__all_namespaces"

// ours lists what the store itself has whole.
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

// resolve puts what is kept in the place of its metadata, and leaves out what is gone.
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

// missing appends the objects that match of which only the metadata is there.
func (v *view) missing(found []Absent, namespace string, matches func(*metadataOnly) bool) []Absent {
	items := []any{}
	if namespace == "" {
		items = v.Indexer.List()
	} else if in, err := v.Indexer.ByIndex(toolscache.NamespaceIndex, namespace); err == nil { // which every informer of a cache has
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

// Missing finds the objects that match of which the caches have the metadata only; an empty namespace is all. Matches gets what the cache keeps.
func (l *Link) Missing(namespace string, matches func(client.Object) bool) (found []Absent) {
	for _, i := range l.joined() {
		v := &view{i.SharedIndexInformer.GetIndexer(), i}
		found = v.missing(found, namespace, func(m *metadataOnly) bool { return matches(m.partial(i.kind)) })
	}
	return found
}

// Absent is an object of which an informer has the metadata only.
type Absent struct {
	// Key is its name.
	Key      types.NamespacedName
	informer *Informer
	uid      types.UID
}

// Take gives the cache the object as it was read live, which it owns from then on.
func (a Absent) Take(object client.Object) { a.informer.take(object) }

// Gone notes that the object does not exist any more.
func (a Absent) Gone() { a.informer.goneFor(a.Key, a.uid) }
