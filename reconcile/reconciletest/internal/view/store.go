package view

import (
	"errors"
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/selection"
	"k8s.io/apimachinery/pkg/types"
	toolscache "k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/internal/objects"
)

// exact returns an error if a cache cannot evaluate a field selector.
func exact(selector fields.Selector) error {
	requirements := selector.Requirements()
	if len(requirements) == 0 || slices.ContainsFunc(requirements, func(one fields.Requirement) bool { return one.Operator == selection.NotEquals }) {
		return errNotExact
	}
	return nil
}

var errNotExact = errors.New("non-exact field matches are not supported by the cache")

// PartialError is the error of a read from a cache that contains only a part of the data.
type PartialError struct {
	// What is the object, or the kind of a list.
	What  string
	cause error
}

// Error returns the error of the cache.
func (e *PartialError) Error() string { return e.cause.Error() }

// Unwrap returns the error of the cache.
func (e *PartialError) Unwrap() error { return e.cause }

// newStore returns the store of a kind whose informer reduces objects, nil for one that keeps entire objects.
func (v *View) newStore(k *viewKind, gvk schema.GroupVersionKind, as representation) (*store, error) {
	if v.opts.NewInformer == nil {
		return nil, nil //nolint:nilnil // see above
	}
	example, err := v.empty(gvk, as)
	if err != nil {
		return nil, err
	}
	byNamespace := toolscache.Indexers{toolscache.NamespaceIndex: toolscache.MetaNamespaceIndexFunc}
	d, decides := v.opts.NewInformer(&toolscache.ListWatch{}, example, 0, byNamespace).(decider)
	if !decides {
		return nil, nil //nolint:nilnil // see above
	}
	if err := d.SetTransform(v.keeps(gvk).transform); err != nil {
		return nil, fmt.Errorf("cache %s: %w", gvk, err)
	}
	if v.begun {
		d.Begin()
	}
	s := &store{decider: d, items: map[types.NamespacedName]item{}, replaced: map[*unstructured.Unstructured]any{}}
	for _, key := range objects.SortedKeys(k.shown) {
		if err := s.put(v, gvk, as, k.shown[key]); err != nil {
			return nil, err
		}
	}
	return s, nil
}

// put stores a version of an object.
func (s *store) put(v *View, gvk schema.GroupVersionKind, as representation, u *unstructured.Unstructured) error {
	object, err := v.convert(gvk, as, u)
	if err != nil {
		return err
	}
	kept, err := s.Reduce(object)
	if err != nil {
		return fmt.Errorf("cache %s: %w", objects.Name(gvk, client.ObjectKeyFromObject(u)), err)
	}
	s.items[client.ObjectKeyFromObject(u)] = item{from: u, kept: kept}
	return s.GetIndexer().Add(kept)
}

// move updates the store by events.
func (s *store) move(v *View, gvk schema.GroupVersionKind, as representation, events []Event) {
	for _, e := range events {
		if e.Before != nil {
			s.replaced[e.Before] = s.items[e.key].kept
		}
		if e.After != nil {
			_ = s.put(v, gvk, as, e.After) // a real informer logs it and continues
			continue
		}
		if kept := s.items[e.key].kept; kept != nil {
			_ = s.GetIndexer().Delete(kept) // the key is known
			delete(s.items, e.key)
		}
	}
}

// of returns the current or former reduced version of an object.
func (s *store) of(key types.NamespacedName, u *unstructured.Unstructured) any {
	if known := s.items[key]; known.from == u {
		return known.kept
	}
	return s.replaced[u]
}

// get returns a reduced object, as a manager's cache does; nil if there is none.
func (s *store) get(gvk schema.GroupVersionKind, key types.NamespacedName) (client.Object, error) {
	text := key.Name
	if key.Namespace != "" {
		text = key.Namespace + "/" + key.Name
	}
	kept, exists, err := s.GetIndexer().GetByKey(text)
	if !exists {
		return nil, err
	}
	object, ok := kept.(client.Object)
	if err == nil && !ok {
		err = fmt.Errorf("cache: %s is a %T, want an object", key, kept)
	}
	if err != nil {
		return nil, &PartialError{What: objects.Name(gvk, key), cause: err}
	}
	return object, nil
}

// list returns the selected reduced objects, sorted.
func (s *store) list(options *client.ListOptions) ([]runtime.Object, error) {
	found, err := s.found(options)
	if err != nil {
		return nil, err
	}
	type one struct {
		key    types.NamespacedName
		object runtime.Object
	}
	selected := make([]one, 0, len(found))
	for _, kept := range found {
		object, isObject := kept.(runtime.Object)
		metadata, err := meta.Accessor(kept)
		if err != nil || !isObject {
			return nil, fmt.Errorf("cache: %T is no object: %w", kept, err)
		}
		if options.LabelSelector == nil || options.LabelSelector.Matches(labels.Set(metadata.GetLabels())) {
			selected = append(selected, one{types.NamespacedName{Namespace: metadata.GetNamespace(), Name: metadata.GetName()}, object})
		}
	}
	slices.SortFunc(selected, func(a, b one) int { return objects.CompareKeys(a.key, b.key) })
	out := make([]runtime.Object, len(selected))
	for n, o := range selected {
		out[n] = o.object
	}
	return out, nil
}

// found returns the items of a namespace, or those with field values.
func (s *store) found(options *client.ListOptions) ([]any, error) {
	switch {
	case options.FieldSelector != nil:
		if err := exact(options.FieldSelector); err != nil {
			return nil, err
		}
		return s.byFields(options.FieldSelector.Requirements(), options.Namespace)
	case options.Namespace != "":
		return s.GetIndexer().ByIndex(toolscache.NamespaceIndex, options.Namespace)
	}
	return s.GetIndexer().List(), nil
}

// byFields returns the items with field values, as a manager's cache does.
func (s *store) byFields(requirements fields.Requirements, namespace string) ([]any, error) {
	items, err := s.GetIndexer().ByIndex(indexName(requirements[0].Field), indexKey(namespace, requirements[0].Value))
	if err != nil {
		return nil, err
	}
	for _, one := range requirements[1:] {
		index := s.GetIndexer().GetIndexers()[indexName(one.Field)]
		if index == nil {
			return nil, fmt.Errorf("index with name %s does not exist", indexName(one.Field))
		}
		items = slices.DeleteFunc(items, func(kept any) bool {
			values, failed := index(kept)
			err = failed
			return !slices.Contains(values, indexKey(namespace, one.Value))
		})
	}
	return items, err
}

// indexName and indexKey return the names and keys of controller-runtime, which informers may use.
func indexName(field string) string { return "field:" + field }

func indexKey(namespace, value string) string {
	if namespace == "" {
		namespace = "__all_namespaces"
	}
	return namespace + "/" + value
}

// indexBy returns the index function for a field.
func indexBy(extract client.IndexerFunc) toolscache.IndexFunc {
	return func(kept any) ([]string, error) {
		object, ok := kept.(client.Object)
		if !ok {
			return nil, fmt.Errorf("cache: %T is no object", kept)
		}
		var keys []string
		for _, value := range extract(object) {
			keys = append(keys, indexKey("", value))
			if object.GetNamespace() != "" {
				keys = append(keys, indexKey(object.GetNamespace(), value))
			}
		}
		return keys, nil
	}
}
