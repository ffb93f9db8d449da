package view

import (
	"context"
	"fmt"
	"reflect"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	toolscache "k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"

	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/internal/objects"
)

var _ cache.Cache = (*View)(nil)

// Get reads one object from the cache.
func (v *View) Get(_ context.Context, key client.ObjectKey, into client.Object, opts ...client.GetOption) error {
	options := client.GetOptions{}
	options.ApplyOptions(opts)
	gvk, err := apiutil.GVKForObject(into, v.cluster.Scheme)
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

// one returns a cached object, nil if there is none. It is shared and must not be modified.
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

// List reads the selected objects from the cache. Unlike a real cache it sorts them, so that a run is reproducible; [Converge] reverses
// the order in some cases.
func (v *View) List(_ context.Context, into client.ObjectList, opts ...client.ListOption) error {
	options := client.ListOptions{}
	options.ApplyOptions(opts)
	gvk, err := objects.ListedKind(into, v.cluster.Scheme)
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
	if v.cluster.Reversed {
		slices.Reverse(items)
	}
	err = meta.SetList(into, items)
	if err != nil && slices.ContainsFunc(items, func(o runtime.Object) bool { _, whole := o.(client.Object); return !whole }) {
		err = &PartialError{What: "a list of the kind " + gvk.Kind, cause: err}
	}
	return err
}

// several returns the selected objects, sorted. They are shared and must not be modified.
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

// IndexField adds an index.
func (v *View) IndexField(_ context.Context, obj client.Object, field string, extract client.IndexerFunc) error {
	gvk, err := apiutil.GVKForObject(obj, v.cluster.Scheme)
	if err != nil {
		return err
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.indexes[gvk] == nil {
		v.indexes[gvk] = map[string]client.IndexerFunc{}
	}
	if v.indexes[gvk][field] != nil {
		return fmt.Errorf("index %s of %s: indexer conflict", field, gvk)
	}
	v.indexes[gvk][field] = extract
	if v.opts.NewInformer == nil {
		return nil
	}
	k, err := v.kind(gvk)
	if err != nil {
		return err
	}
	s, err := v.storeOf(k, gvk, representationOf(obj))
	if err != nil || s == nil {
		return err
	}
	return s.AddIndexers(toolscache.Indexers{indexName(field): indexBy(extract)})
}

// indexesFor returns an error if the cache cannot evaluate a field selector: it supports only exact values of indexed fields.
func (v *View) indexesFor(gvk schema.GroupVersionKind, selector fields.Selector) error {
	if selector == nil {
		return nil
	}
	if err := exact(selector); err != nil {
		return err
	}
	for _, one := range selector.Requirements() {
		if v.indexes[gvk][one.Field] == nil {
			return fmt.Errorf("list %s: index with name field:%s does not exist", gvk, one.Field)
		}
	}
	return nil
}

// indexed returns the values of an index for an object.
func (v *View) indexed(
	k *viewKind, gvk schema.GroupVersionKind, name string, u *unstructured.Unstructured,
) ([]string, error) {
	as := representation("unstructured")
	if v.cluster.Scheme.Recognizes(gvk) {
		as = "typed"
	}
	obj, err := v.object(k, gvk, as, u)
	if err != nil {
		return nil, err
	}
	return v.indexes[gvk][name](obj), nil
}
