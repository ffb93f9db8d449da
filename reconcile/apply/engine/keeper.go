package engine

import (
	"fmt"

	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/selection"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/reconcilekit/reconcilekit/reconcile/apply"
	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/pass"
)

// setSelector selects what is labelled with an id of the owner. Whether it is
// a child is to be proven.
func setSelector(p *pass.Pass) (client.MatchingLabelsSelector, error) {
	m := &p.Memory.Sets
	either, err := labels.NewRequirement(apply.PartOfLabel, selection.In, []string{m.Standard, m.Own})
	if err != nil {
		return client.MatchingLabelsSelector{}, fmt.Errorf("select the members: %w", err)
	}
	return client.MatchingLabelsSelector{Selector: labels.NewSelector().Add(*either)}, nil
}
