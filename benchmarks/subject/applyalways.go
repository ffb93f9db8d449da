package subject

import (
	"context"
	"errors"
	"fmt"

	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/reconcilekit/reconcilekit/benchmarks/widget"
)

// newApplyAlways returns a reconciler that applies every child in every reconciliation, as the documentation of server-side apply
// recommends for controllers.
func newApplyAlways(env Environment) (reconcile.Reconciler, error) {
	c := env.Client
	apply := func(ctx context.Context, owner *widget.Widget, children []client.Object) error {
		var errs []error
		for _, child := range children {
			fields, err := intent(child, owner)
			if err == nil {
				err = c.Apply(ctx, client.ApplyConfigurationFromUnstructured(fields), client.FieldOwner(FieldManager), client.ForceOwnership)
			}
			if err != nil {
				errs = append(errs, fmt.Errorf("%s: %w", child.GetName(), err))
			}
		}
		return errors.Join(errs...)
	}
	return &reconciler{reader: c, apply: apply, status: applyStatus(c)}, nil
}
