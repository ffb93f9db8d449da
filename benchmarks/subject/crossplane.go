package subject

import (
	"context"
	"errors"
	"fmt"

	"github.com/crossplane/crossplane-runtime/v2/pkg/resource"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/reconcilekit/reconcilekit/benchmarks/widget"
)

func newCrossplanePatching(env Environment) (reconcile.Reconciler, error) {
	return newCrossplane(env, resource.NewAPIPatchingApplicator(env.Client)), nil
}

func newCrossplaneUpdating(env Environment) (reconcile.Reconciler, error) {
	return newCrossplane(env, resource.NewAPIUpdatingApplicator(env.Client)), nil
}

// newCrossplane applies each child with an applicator of crossplane-runtime, and rejects objects of other controllers.
func newCrossplane(env Environment, applicator resource.Applicator) reconcile.Reconciler {
	apply := func(ctx context.Context, owner *widget.Widget, children []client.Object) error {
		var errs []error
		for _, child := range children {
			child.SetOwnerReferences(controllerOf(owner))
			if err := applicator.Apply(ctx, child, resource.MustBeControllableBy(owner.UID)); err != nil {
				errs = append(errs, fmt.Errorf("%s: %w", child.GetName(), err))
			}
		}
		return errors.Join(errs...)
	}
	return &reconciler{reader: env.Client, apply: apply, status: updateStatus(env.Client)}
}
