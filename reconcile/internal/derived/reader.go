package derived

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/labels"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Reader is implemented by readers that cache derived values.
type Reader interface {
	client.Reader
	// Derived returns the value of a derivation. The caller must not modify it.
	Derived(ctx context.Context, d Derivation) (any, error)
}

// Derivation declares a value of a selection, without its types. Equal derivations have the same value.
type Derivation interface { //nolint:interfacebloat // what a reconcile.Derivation has
	// String returns the name of the value.
	String() string
	// Of returns the reconcile.Derivation.
	Of() any
	// Selection returns the namespace and the labels of the objects, empty and nil for all.
	Selection() (namespace string, matching labels.Selector)
	// NewList returns an empty list of the kind, and NewObject an empty object.
	NewList() client.ObjectList
	NewObject() client.Object
	// Each and Merge are the functions of the derivation.
	Each(object client.Object) any
	Merge(parts []any) any
	// Limit returns the maximum size of the remembered contributions in bytes.
	Limit() int
}

// Through returns the reader, or one that computes values without a cache.
func Through(r client.Reader) Reader {
	if remembering, ok := r.(Reader); ok {
		return remembering
	}
	return listing{r}
}

// listing computes values without a cache.
type listing struct{ client.Reader }

func (r listing) Derived(ctx context.Context, d Derivation) (any, error) {
	list := d.NewList()
	namespace, matching := d.Selection()
	if err := r.List(ctx, list, &client.ListOptions{Namespace: namespace, LabelSelector: matching}); err != nil {
		return nil, err //nolint:wrapcheck // reads belong to the caller
	}
	objects, err := Items(list)
	if err != nil {
		return nil, err
	}
	slices.SortFunc(objects, func(a, b client.Object) int {
		return cmp.Or(strings.Compare(a.GetNamespace(), b.GetNamespace()), strings.Compare(a.GetName(), b.GetName()))
	})
	parts := make([]any, len(objects))
	for i := range objects {
		parts[i] = d.Each(objects[i])
	}
	return d.Merge(parts), nil
}
