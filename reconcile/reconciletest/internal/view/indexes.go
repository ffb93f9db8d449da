package view

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/selection"
	toolscache "k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"
)

// IndexField adds an index.
func (v *View) IndexField(_ context.Context, obj client.Object, field string, extract client.IndexerFunc) error {
	gvk, err := apiutil.GVKForObject(obj, v.world.Scheme)
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

// indexesFor is why a cache cannot answer to a selector of fields: it knows the objects of a value, and of fields that are indexed.
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

// exact is why a selector of fields is none that a cache can answer to.
func exact(selector fields.Selector) error {
	requirements := selector.Requirements()
	if len(requirements) == 0 || slices.ContainsFunc(requirements, func(one fields.Requirement) bool { return one.Operator == selection.NotEquals }) {
		return errNotExact
	}
	return nil
}

var errNotExact = errors.New("non-exact field matches are not supported by the cache")

// indexed returns the values of an index for an object.
func (v *View) indexed(
	k *viewKind, gvk schema.GroupVersionKind, name string, u *unstructured.Unstructured,
) ([]string, error) {
	as := representation("unstructured")
	if v.world.Scheme.Recognizes(gvk) {
		as = "typed"
	}
	obj, err := v.object(k, gvk, as, u)
	if err != nil {
		return nil, err
	}
	return v.indexes[gvk][name](obj), nil
}
