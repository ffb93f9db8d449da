package controller

import (
	"context"

	"github.com/reconcilekit/reconcilekit/reconcile"
	"github.com/reconcilekit/reconcilekit/reconcile/controller/internal/declaration"
	"github.com/reconcilekit/reconcilekit/reconcile/internal/pipeline"
)

// Func starts the declaration of a controller that only plans: it reads only its owner, and has no other phase. The engine
// reports the health of its children, as described at [New]. The type of the owner is inferred from the function:
//
//	func plan(ctx context.Context, rc reconcile.ReconcileContext[*v1.Website]) (reconcile.PlanResult, error)
//
//	controller.Func("website", plan).Owns(&appsv1.Deployment{}).Build()
//
// The function is the PlanResources of a [reconcile.Reconciler], with the same rules: it is pure, returns all children, and
// runs for several owners concurrently. The name is as in [New]. Use New with a [reconcile.Reconciler] for a controller
// that reads other objects, reports health, sets fields of the status or finalizes.
func Func[T reconcile.Owner](
	name string, plan func(ctx context.Context, rc reconcile.ReconcileContext[T]) (reconcile.PlanResult, error),
) *Builder {
	var phases typed[T, struct{}, struct{}] // the set-up reports a missing plan
	if plan != nil {
		phases.Reconciler = planner[T](plan)
	}
	return declare(name, phases, pipeline.NewOwner[T](), declaration.Caller())
}

// planner is the reconciler of [Func].
type planner[T reconcile.Owner] func(ctx context.Context, rc reconcile.ReconcileContext[T]) (reconcile.PlanResult, error)

// FetchRemoteState reads nothing.
func (planner[T]) FetchRemoteState(context.Context, reconcile.Reader, reconcile.ReconcileContext[T]) struct{} {
	return struct{}{}
}

// PlanResources calls the function.
func (p planner[T]) PlanResources(ctx context.Context, rc reconcile.ReconcileContext[T], _ struct{}) (reconcile.PlanResult, error) {
	return p(ctx, rc)
}
