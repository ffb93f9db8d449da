package apply

import (
	"fmt"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/applyset"
)

// readInventory reads the metadata of an owner.
func (e *Engine) readInventory(o metav1.Object) (*applyset.Inventory, error) {
	a := o.GetAnnotations()
	kinds, err := applyset.ParseGroupKinds(a[GroupKindsAnnotation])
	if err != nil {
		return nil, fmt.Errorf("inventory: %s: %w", GroupKindsAnnotation, err)
	}
	contributions, err := applyset.ParseContributions(a[e.contributionsAnnotation()])
	if err != nil {
		return nil, fmt.Errorf("inventory: %s: %w", e.contributionsAnnotation(), err)
	}
	return &applyset.Inventory{
		Kinds: kinds, Namespaces: applyset.ParseNames(a[NamespacesAnnotation]), Contributions: contributions,
		Finalizer: slices.Contains(o.GetFinalizers(), e.opts.Finalizer),
	}, nil
}

func (e *Engine) contributionsAnnotation() string { return e.opts.Domain + "/contributions" }

// AllowPruneAnnotation is the annotation on an owner that allows the prune with
// the token that it has as its value, see [PruneBlockedError].
func (e *Engine) AllowPruneAnnotation() string { return e.allowPrune }

// planned is the inventory that the plan needs.
func (p *pass) plannedInventory() *applyset.Inventory {
	inv := &applyset.Inventory{Finalizer: p.plan.Hold && !p.finalize}
	for _, c := range p.children {
		if c.kind == nil || c.memory == nil {
			continue
		}
		switch c.child.Mode {
		case Shared:
			continue
		case Contribute:
			inv.Contributions = append(inv.Contributions, c.id)
			inv.Finalizer = true
			continue
		case Own, Once:
		}
		if !slices.Contains(inv.Kinds, c.id.GroupKind) {
			inv.Kinds = append(inv.Kinds, c.id.GroupKind)
		}
		if ns := c.id.Key.Namespace; ns != "" && ns != p.owner.GetNamespace() && !slices.Contains(inv.Namespaces, ns) {
			inv.Namespaces = append(inv.Namespaces, ns)
		}
		if !c.reach {
			inv.Finalizer = true
		}
	}
	inv.Normalise()
	return inv
}
