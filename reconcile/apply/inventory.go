package apply

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/applyset"
)

// readInventory reads the metadata of an owner.
func (e *Engine) readInventory(o metav1.Object) *applyset.Inventory {
	a := o.GetAnnotations()
	inv := &applyset.Inventory{
		Finalizer: slices.Contains(o.GetFinalizers(), e.opts.Finalizer), Namespaces: applyset.ParseNames(a[NamespacesAnnotation]),
	}
	inv.Kinds, inv.UnreadableKinds = applyset.ParseGroupKinds(a[GroupKindsAnnotation])
	inv.Contributions, inv.UnreadableContributions = applyset.ParseContributions(a[e.contributionsAnnotation()])
	inv.Generation, _ = strconv.ParseInt(a[e.generationAnnotation()], 10, 64)
	return inv
}

// unreadable names what of the inventory cannot be read, nil if there is
// nothing.
func (e *Engine) unreadable(inv *applyset.Inventory) error {
	var errs []error
	if len(inv.UnreadableKinds) > 0 {
		errs = append(errs, fmt.Errorf("annotation %s: want a list of Kind.group, got %s",
			GroupKindsAnnotation, quoted(inv.UnreadableKinds)))
	}
	if len(inv.UnreadableContributions) > 0 {
		errs = append(errs, fmt.Errorf("annotation %s: want a list of Kind.group/namespace/name, got %s",
			e.contributionsAnnotation(), quoted(inv.UnreadableContributions)))
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

func (e *Engine) generationAnnotation() string { return e.opts.Domain + "/generation" }

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
