package tracked

import (
	"context"
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/reconcilekit/reconcilekit/reconcile/controller/internal/declaration"
	"github.com/reconcilekit/reconcilekit/reconcile/controller/internal/tracking"
)

// OwnerKeys returns the keys of the cached owners that the controller reconciles, sorted by namespace and name.
func (c *Reads) OwnerKeys(ctx context.Context) ([]types.NamespacedName, error) {
	var keys []types.NamespacedName
	err := c.Each(ctx, c.Kinds[0], func(o client.Object) {
		if c.Kinds[0].Reconciles(o) {
			keys = append(keys, client.ObjectKeyFromObject(o))
		}
	})
	slices.SortFunc(keys, tracking.CompareNames)
	return keys, err
}

// Each calls do with each cached object of the kind. The function do must not change the object.
func (c *Reads) Each(ctx context.Context, k *declaration.Kind, do func(client.Object)) error {
	list, err := c.EmptyList(k)
	if err == nil {
		err = c.Cache.List(ctx, list, client.UnsafeDisableDeepCopy)
	}
	if err != nil {
		return fmt.Errorf("list %s: %w", declaration.Print(k.GroupVersionKind), err)
	}
	return meta.EachListItem(list, func(item runtime.Object) error {
		if o, ok := item.(client.Object); ok {
			do(o)
		}
		return nil
	})
}
