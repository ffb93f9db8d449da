package engine

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/reconcilekit/reconcilekit/reconcile/apply"
	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/applyset"
)

// readInventory reads the metadata of an owner.
func (e *env) readInventory(o metav1.Object, keys *applyset.Keys) *applyset.Inventory {
	a := o.GetAnnotations()
	inv := &applyset.Inventory{
		Finalizer: slices.Contains(o.GetFinalizers(), e.opts.Finalizer), Namespaces: applyset.ParseNames(a[keys.Namespaces]),
		Orphan: a[keys.Orphan] == orphanValue,
	}
	inv.Kinds, inv.UnreadableKinds = applyset.ParseGroupKinds(a[keys.Kinds])
	inv.Contributions, inv.UnreadableContributions = applyset.ParseContributions(a[keys.Contributions])
	inv.Generation, _ = strconv.ParseInt(a[keys.Generation], 10, 64)
	return inv
}

// unreadable names what of the inventory cannot be read, nil if there is
// nothing.
func (p *pass) unreadable(inv *applyset.Inventory) error {
	var errs []error
	if len(inv.UnreadableKinds) > 0 {
		errs = append(errs, fmt.Errorf("annotation %s: want a list of Kind.group, got %s",
			p.keys.Kinds, quoted(inv.UnreadableKinds)))
	}
	if len(inv.UnreadableContributions) > 0 {
		errs = append(errs, fmt.Errorf("annotation %s: want a list of Kind.group/namespace/name, got %s",
			p.keys.Contributions, quoted(inv.UnreadableContributions)))
	}
	return errors.Join(errs...)
}

// quoted shows items that somebody has written, of which there may be many.
func quoted(items []string) string {
	const shown, width = 3, 40
	out := make([]string, 0, shown)
	for _, item := range items[:min(len(items), shown)] {
		out = append(out, strconv.Quote(item[:min(len(item), width)]))
	}
	if len(items) > shown {
		out = append(out, fmt.Sprintf("and %d more", len(items)-shown))
	}
	return strings.Join(out, ", ")
}

// planned is the inventory that the plan needs.
func (p *pass) plannedInventory() *applyset.Inventory {
	inv := &applyset.Inventory{Finalizer: p.plan.Hold && !p.finalize}
	if p.self != nil && len(p.self.child.Object.GetFinalizers()) > 0 {
		inv.Finalizer = true // somebody has to take them off
	}
	for _, c := range p.children {
		if c.kind == nil || c.memory == nil {
			continue
		}
		switch c.child.Mode {
		case apply.Retained:
			continue
		case apply.Contribute, apply.Shared:
			inv.Contributions = append(inv.Contributions, c.id)
			inv.Finalizer = true
			continue
		case apply.Own, apply.Once:
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
