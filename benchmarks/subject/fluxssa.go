package subject

import (
	"context"
	"slices"
	"strings"

	"github.com/fluxcd/pkg/ssa"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/reconcilekit/reconcilekit/benchmarks/widget"
)

// newFlux applies the children with ApplyAll and deletes former children in the inventory with DeleteAll, as Flux's own controllers do.
// Like theirs, its reads of unstructured objects are not cached.
func newFlux(env Environment) (reconcile.Reconciler, error) {
	manager := ssa.NewResourceManager(env.Client, nil, ssa.Owner{Field: FieldManager, Group: widget.GroupVersion.Group})
	manager.SetConcurrency(Workers)
	apply := func(ctx context.Context, owner *widget.Widget, children []client.Object) error {
		objects := make([]*unstructured.Unstructured, 0, len(children))
		inventory := make([]string, 0, len(children))
		for _, child := range children {
			object, err := intent(child, owner)
			if err != nil {
				return err
			}
			objects = append(objects, object)
			inventory = append(inventory, entry(object))
		}
		if _, err := manager.ApplyAll(ctx, objects, ssa.DefaultApplyOptions()); err != nil {
			return err
		}
		slices.Sort(inventory)
		gone := difference(owner, inventory)
		if len(gone) > 0 {
			if _, err := manager.DeleteAll(ctx, gone, ssa.DefaultDeleteOptions()); err != nil {
				return err
			}
		}
		owner.Status.Inventory = inventory
		return nil
	}
	return &reconciler{reader: env.Client, apply: apply, status: patchStatus(env.Client)}, nil
}

// entry returns "group/version/Kind/name".
func entry(object *unstructured.Unstructured) string {
	gvk := object.GroupVersionKind()
	return strings.Join([]string{gvk.Group, gvk.Version, gvk.Kind, object.GetName()}, "/")
}

// difference returns the objects of the owner's inventory that left the plan.
func difference(owner *widget.Widget, planned []string) []*unstructured.Unstructured {
	var gone []*unstructured.Unstructured
	for _, line := range owner.Status.Inventory {
		parts := strings.Split(line, "/")
		if _, stays := slices.BinarySearch(planned, line); stays || len(parts) != 4 {
			continue
		}
		object := &unstructured.Unstructured{}
		object.SetGroupVersionKind(schema.GroupVersionKind{Group: parts[0], Version: parts[1], Kind: parts[2]})
		object.SetNamespace(owner.Namespace)
		object.SetName(parts[3])
		gone = append(gone, object)
	}
	return gone
}
