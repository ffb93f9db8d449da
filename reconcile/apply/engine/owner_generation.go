package engine

import (
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/reconcilekit/reconcilekit/reconcile/internal/conditionlist"
)

// observedGeneration returns the generation in the owner's status: status.observedGeneration, or else the newest of its conditions.
func observedGeneration(e *env, owner client.Object) (int64, bool) {
	content, err := e.encoder.Live(owner)
	if err != nil {
		return 0, false
	}
	status, _ := content["status"].(map[string]any)
	if n, ok := status["observedGeneration"].(int64); ok {
		return n, true
	}
	var newest int64
	conditions, _ := status["conditions"].([]any)
	for _, c := range conditions {
		m, _ := c.(map[string]any)
		if n, ok := m["observedGeneration"].(int64); ok {
			newest = max(newest, n)
		}
	}
	return newest, newest > 0
}

// statusHasGeneration reports whether the owner's status records an observed generation.
func statusHasGeneration(e *env, owner client.Object) bool {
	if slices.ContainsFunc(conditionlist.Get(owner), func(c metav1.Condition) bool { return c.ObservedGeneration > 0 }) {
		return true
	}
	_, speaks := observedGeneration(e, owner)
	return speaks
}

// keepsGeneration reports whether the inventory must record the generation of the last completed plan, because the status does not. The
// first generation is not recorded, and none for an owner without children: there is nothing to prune whose cause it could explain.
func keepsGeneration(p *pass) bool {
	generation := p.owner.GetGeneration()
	m := &p.memory.Metadata
	if p.group != nil || p.finalize || generation <= 1 || m.StatusHasGeneration || (m.Known != nil && m.Known.Generation == generation) {
		return false
	}
	m.StatusHasGeneration = statusHasGeneration(p.env, p.owner)
	return !m.StatusHasGeneration && !recordsNothing(p)
}

// recordsNothing reports whether the owner has no children, according to the inventory and to the plan.
func recordsNothing(p *pass) bool {
	known := p.memory.Metadata.Known
	return (known == nil || known.Empty()) && plannedInventory(p).Empty()
}

// dropsGeneration reports whether the inventory records a generation that the status now records as well, or although there are no children.
// It is then removed, so that the final metadata does not depend on the history.
func dropsGeneration(p *pass) bool {
	m := &p.memory.Metadata
	if p.finalize || m.Known == nil || m.Known.Generation == 0 {
		return false
	}
	m.StatusHasGeneration = m.StatusHasGeneration || statusHasGeneration(p.env, p.owner)
	return m.StatusHasGeneration || recordsNothing(p)
}
