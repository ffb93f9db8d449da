package aimservice

import (
	"context"

	"github.com/reconcilekit/reconcilekit/reconcile"
	"github.com/reconcilekit/reconcilekit/reconcile/apply"

	aimv1alpha1 "github.com/reconcilekit/reconcilekit/examples/aim/api/v1alpha1"
)

// PlanResources lists the children of the service.
func (*ServiceReconciler) PlanResources(
	_ context.Context, _ reconcile.ReconcileContext[*aimv1alpha1.AIMService], obs ServiceObservation,
) (reconcile.PlanResult, error) {
	var plan reconcile.PlanResult
	if obs.newModel != nil {
		plan.ApplyWithoutOwnerRef(obs.newModel, apply.Retain())
	}
	obs.planRoute(&plan)
	if base := obs.templates.base(); base.ready() && obs.templates.derivedName != "" {
		plan.Apply(obs.derivedTemplate(base))
	}
	obs.planCache(&plan)
	switch cached := !obs.needsCache() || obs.cacheReady(); {
	case obs.template.ready() && (obs.running() || cached && obs.model.ready()):
		plan.Apply(obs.inferenceService())
	case obs.running():
		plan.Keep(obs.isvc.Value)
	}
	return plan, nil
}

// planRoute plans the route. While it cannot be planned, the one that there is stays
// as it is; a service that has lost its path has none.
func (obs ServiceObservation) planRoute(plan *reconcile.PlanResult) {
	switch {
	case obs.plannedRoute != nil && len(obs.lostPaths) == 0:
		plan.Apply(obs.plannedRoute)
	case obs.routeErr != nil && obs.route.Value != nil:
		plan.Keep(obs.route.Value)
	}
}

// planCache plans the cache of the template. A shared one is made when nobody has
// made it, and then belongs to nobody: its env and labels are not rewritten.
func (obs ServiceObservation) planCache(plan *reconcile.PlanResult) {
	dedicated := obs.service.Spec.GetCachingMode() == aimv1alpha1.CachingModeDedicated
	if !obs.needsCache() || !obs.template.ready() {
		if obs.cache != nil && dedicated {
			plan.Keep(obs.cache)
		}
		return
	}
	if dedicated {
		plan.Apply(obs.newCache())
	} else if obs.cache == nil {
		plan.ApplyWithoutOwnerRef(obs.newCache(), apply.Retain(), apply.CreateOnly("spec", "metadata.labels"))
	}
}

// Finalize deletes the caches that were made for the service, are not ready, and
// that nobody else uses. The children go with their owner.
func (*ServiceReconciler) Finalize(
	_ context.Context, rc reconcile.ReconcileContext[*aimv1alpha1.AIMService], fetched ServiceFetchResult,
) (reconcile.PlanResult, error) {
	var plan reconcile.PlanResult
	for _, cache := range fetched.abandoned(rc.Object) {
		plan.Delete(&cache, apply.MatchResourceVersion())
	}
	return plan, nil
}
