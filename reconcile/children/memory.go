package children

import (
	"slices"

	"github.com/reconcilekit/reconcilekit/internal/fingerprint"
	"github.com/reconcilekit/reconcilekit/internal/recent"
	"github.com/reconcilekit/reconcilekit/reconcile"
)

// memory caches recent plans by the fingerprint of their facts. The zero value is empty.
type memory struct{ plans recent.Values[*remembered] }

// remembered is a cached plan and its original fingerprint.
type remembered struct {
	plan reconcile.PlanResult
	made fingerprint.Sum
}

// get returns the cached plan of the facts. It drops a plan that was modified since.
func (m *memory) get(key fingerprint.Sum) (reconcile.PlanResult, bool) {
	kept, known := m.plans.Get(key)
	if !known {
		return reconcile.PlanResult{}, false
	}
	if now, ok := fingerprint.Of(&kept.plan); !ok || now != kept.made {
		m.plans.Forget(key, func(found *remembered) bool { return found == kept })
		return reconcile.PlanResult{}, false
	}
	return given(kept.plan), true
}

// keep caches a plan within the size limit and returns it.
func (m *memory) keep(key fingerprint.Sum, plan reconcile.PlanResult, budget int) reconcile.PlanResult {
	made, size, ok := fingerprint.OfSized(&plan)
	if !ok || size > budget {
		return plan
	}
	m.plans.Put(key, &remembered{plan: plan, made: made}, size, budget)
	return given(plan)
}

// given returns the plan with copies of its lists, so that additions of the caller do not change the cache.
func given(plan reconcile.PlanResult) reconcile.PlanResult {
	plan.Children, plan.Deletes = slices.Clone(plan.Children), slices.Clone(plan.Deletes)
	for i := range plan.Children {
		plan.Children[i].Fields = slices.Clip(plan.Children[i].Fields)
	}
	return plan
}
