package tracked

import (
	"context"
	"slices"

	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/reconcilekit/reconcilekit/reconcile/controller/internal/declaration"
	"github.com/reconcilekit/reconcilekit/reconcile/internal/derived"
)

var _ derived.Reader = (*Reader)(nil)

// Derived returns the value that all owners share, see [reconcile.FetchDerived]. It records the read before it happens, as
// for every read: a later change of the value enqueues the owner.
func (r *Reader) Derived(ctx context.Context, d derived.Derivation) (any, error) {
	k, err := r.declared(d.NewList())
	if err != nil {
		return nil, err
	}
	if err := r.whole(k, client.ObjectKey{}); err != nil {
		return nil, err
	}
	if !slices.ContainsFunc(k.Derives, func(declared declaration.Derivation) bool { return declared.Of == d.Of() }) {
		return nil, &declaration.UndeclaredError{
			Controller: r.Controller, GVK: k.GroupVersionKind,
			Declaration: declaration.PurposeReads.Call(r.example(k.Object, k.GroupVersionKind) + ", controller.Derives(...)"),
		}
	}
	namespace, matching := d.Selection()
	namespace = k.Name(types.NamespacedName{Namespace: namespace}).Namespace
	value := r.session.Derived(k.Index, d, namespace, matching, func() *derived.Value { return r.newValue(k, d, namespace, matching) })
	return value.Get(ctx)
}

// newValue returns the value of a derivation of a cached kind.
func (c *Reads) newValue(k *declaration.Kind, d derived.Derivation, namespace string, matching labels.Selector) *derived.Value {
	return derived.New(derived.Source{
		Each: d.Each, Merge: d.Merge, MaxBytes: d.Limit(),
		List: func(ctx context.Context) ([]client.Object, error) {
			list := d.NewList()
			if err := c.sorted(ctx, k, list, &client.ListOptions{Namespace: namespace, LabelSelector: matching}); err != nil {
				return nil, err
			}
			objects, err := derived.Items(list)
			for _, object := range objects {
				object.GetObjectKind().SetGroupVersionKind(k.GroupVersionKind) // as for a read by name
			}
			return objects, err
		},
		Get: func(ctx context.Context, name types.NamespacedName) (client.Object, error) {
			object := d.NewObject()
			if found, err := IgnoreMissing(c.get(ctx, k, name, object)); !found {
				return nil, err
			}
			if matching != nil && !matching.Matches(labels.Set(object.GetLabels())) {
				return nil, nil // the selection does not have the object
			}
			object.GetObjectKind().SetGroupVersionKind(k.GroupVersionKind)
			return object, nil
		},
	})
}
