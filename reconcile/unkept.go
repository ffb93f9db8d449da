package reconcile

import (
	"slices"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/reconcilekit/reconcilekit/conditions"
)

// announced are the conditions of earlier passes that the owner's type does not keep: a transition is one against them.
func (p *pass[T, F, O]) announced() []metav1.Condition {
	if known, list := p.owners.unkept(p.owner); known {
		return list
	}
	return p.Announced
}

// transitions are what is to be announced: conditions that were stored, and those that the owner's type does not keep. Of
// these nothing is known after a restart; then a pass that stores nothing announces nothing.
func (p *pass[T, F, O]) transitions(
	report *Report, manager *conditions.Manager, kept []metav1.Condition,
) []conditions.Transition {
	unkept := p.unkept(manager, kept)
	if len(unkept)+len(report.Announced) == 0 {
		if report.StatusWritten {
			return manager.Transitions()
		}
		return nil
	}
	p.owners.noteUnkept(p.owner, unkept)
	return slices.DeleteFunc(manager.Transitions(), func(t conditions.Transition) bool {
		return !report.StatusWritten && (len(report.Announced) == 0 || !has(unkept, t.After.Type))
	})
}

// unkept are the conditions of this pass that are not among those that the owner keeps.
func (p *pass[T, F, O]) unkept(manager *conditions.Manager, kept []metav1.Condition) (list []metav1.Condition) {
	for c := range manager.EachManaged {
		if !has(kept, c.Type) {
			list = append(list, c)
		}
	}
	return list
}

func has(list []metav1.Condition, conditionType string) bool {
	return meta.FindStatusCondition(list, conditionType) != nil
}
