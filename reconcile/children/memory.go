package children

import (
	"container/list"
	"slices"
	"sync"

	"github.com/reconcilekit/reconcilekit/internal/fingerprint"
	"github.com/reconcilekit/reconcilekit/reconcile"
)

// memory keeps the plans that were asked for last, by the fingerprint of what they were made from. The zero value is empty.
type memory struct {
	mu    sync.Mutex
	plans map[fingerprint.Sum]*list.Element
	order list.List // of *remembered, the one asked for last in front
	bytes int
}

// remembered is a plan, and its fingerprint as it was made.
type remembered struct {
	key  fingerprint.Sum
	plan reconcile.PlanResult
	made fingerprint.Sum
	size int
}

// recall returns the plan that was made from the same. One that was changed since is forgotten.
func (m *memory) recall(key fingerprint.Sum) (reconcile.PlanResult, bool) {
	kept := m.lookup(key)
	if kept == nil {
		return reconcile.PlanResult{}, false
	}
	if now, ok := fingerprint.Of(&kept.plan); !ok || now != kept.made {
		m.forget(kept)
		return reconcile.PlanResult{}, false
	}
	return given(kept.plan), true
}

func (m *memory) lookup(key fingerprint.Sum) *remembered {
	m.mu.Lock()
	defer m.mu.Unlock()
	at := m.plans[key]
	if at == nil {
		return nil
	}
	m.order.MoveToFront(at)
	return at.Value.(*remembered) //nolint:forcetypeassert // the list has nothing else
}

func (m *memory) forget(kept *remembered) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if at := m.plans[kept.key]; at != nil && at.Value == kept {
		m.drop(at)
	}
}

// keep remembers a plan as long as it is among the last ones that fit into the budget, and returns it.
func (m *memory) keep(key fingerprint.Sum, plan reconcile.PlanResult, budget int) reconcile.PlanResult {
	made, size, ok := fingerprint.OfSized(&plan)
	if !ok || size > budget {
		return plan
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if at := m.plans[key]; at != nil { // another worker was faster
		m.drop(at)
	}
	if m.plans == nil {
		m.plans = map[fingerprint.Sum]*list.Element{}
	}
	m.plans[key] = m.order.PushFront(&remembered{key: key, plan: plan, made: made, size: size})
	for m.bytes += size; m.bytes > budget; {
		m.drop(m.order.Back())
	}
	return given(plan)
}

func (m *memory) drop(at *list.Element) {
	kept := m.order.Remove(at).(*remembered) //nolint:forcetypeassert // the list has nothing else
	delete(m.plans, kept.key)
	m.bytes -= kept.size
}

// given is the plan with lists of its own: what the caller adds is not remembered.
func given(plan reconcile.PlanResult) reconcile.PlanResult {
	plan.Children, plan.Deletes = slices.Clone(plan.Children), slices.Clone(plan.Deletes)
	for i := range plan.Children {
		plan.Children[i].Fields = slices.Clip(plan.Children[i].Fields)
	}
	return plan
}
