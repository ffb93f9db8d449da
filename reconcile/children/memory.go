package children

import (
	"slices"

	"github.com/reconcilekit/reconcilekit/internal/fingerprint"
	"github.com/reconcilekit/reconcilekit/internal/recent"
	"github.com/reconcilekit/reconcilekit/reconcile"
)

// memory keeps the plans that were asked for last, by the fingerprint of what they were made from. The zero value is empty.
type memory struct{ plans recent.Values[*remembered] }

// remembered is a plan, and its fingerprint as it was made.
type remembered struct {
	plan reconcile.PlanResult
	made fingerprint.Sum
}

// recall returns the plan that was made from the same. One that was changed since is forgotten.
func (m *memory) recall(key fingerprint.Sum) (reconcile.PlanResult, bool) {
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

// keep remembers a plan as long as it is among the last ones that fit into the budget, and returns it.
func (m *memory) keep(key fingerprint.Sum, plan reconcile.PlanResult, budget int) reconcile.PlanResult {
	made, size, ok := fingerprint.OfSized(&plan)
	if !ok || size > budget {
		return plan
	}
	m.plans.Put(key, &remembered{plan: plan, made: made}, size, budget)
	return given(plan)
}

// given is the plan with lists of its own: what the caller adds is not remembered.
func given(plan reconcile.PlanResult) reconcile.PlanResult {
	plan.Children, plan.Deletes = slices.Clone(plan.Children), slices.Clone(plan.Deletes)
	for i := range plan.Children {
		plan.Children[i].Fields = slices.Clip(plan.Children[i].Fields)
	}
	return plan
}
