package engine

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/reconcilekit/reconcilekit/reconcile/apply"
	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/applyset"
	"github.com/reconcilekit/reconcilekit/reconcile/internal/groupkey"
)

// groupInventory returns the inventory of a group, which includes everything that may exist.
func groupInventory(g groupkey.Group) *applyset.Inventory {
	kinds := g.ChildKinds()
	inv := &applyset.Inventory{Kinds: make([]schema.GroupKind, 0, len(kinds))}
	for _, gvk := range kinds {
		inv.Kinds = append(inv.Kinds, gvk.GroupKind())
	}
	inv.Normalise()
	return inv
}

// readInventory reads the inventory from the owner's metadata.
func readInventory(e *env, o metav1.Object, keys *applyset.Keys) *applyset.Inventory {
	a := o.GetAnnotations()
	inv := &applyset.Inventory{
		Finalizer: slices.Contains(o.GetFinalizers(), e.options.Finalizer), Namespaces: applyset.ParseNames(a[keys.Namespaces]),
		Orphan: a[keys.Orphan] == orphanValue,
	}
	inv.Kinds, inv.UnreadableKinds = applyset.ParseGroupKinds(a[keys.Kinds])
	inv.Contributions, inv.UnreadableContributions = applyset.ParseContributions(a[keys.Contributions])
	inv.Generation, _ = strconv.ParseInt(a[keys.Generation], 10, 64)
	return inv
}

// unreadableInventory returns an error that names the entries of the inventory that cannot be parsed, nil if there are none.
func unreadableInventory(p *pass, inv *applyset.Inventory) error {
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

// quoted formats items of unknown origin and number for a message.
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

// plannedInventory returns the inventory that the plan needs.
func plannedInventory(p *pass) *applyset.Inventory {
	inv := &applyset.Inventory{Finalizer: p.plan.Hold && !p.finalize}
	if p.ownerChild != nil && len(p.ownerChild.planned.Object.GetFinalizers()) > 0 {
		inv.Finalizer = true // the finalizer ensures their removal
	}
	for _, c := range p.children {
		if c.kind == nil || c.memory == nil || c.planned.History {
			continue
		}
		switch c.planned.Mode {
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
		if !c.reach || c.after != "" {
			inv.Finalizer = true // garbage collection does not delete it, or has no order
		}
	}
	addKeptKinds(p, inv)
	inv.Normalise()
	return inv
}

// addKeptKinds adds the recorded namespaces of kept kinds, because the plan does not name their members. An owner that never had a child
// of the kind has nothing to record.
func addKeptKinds(p *pass, inv *applyset.Inventory) {
	kept := false
	recorded := recordedInventory(p)
	for _, gvk := range p.plan.KeptKinds {
		gk := gvk.GroupKind()
		if !p.keepsKind(p.plan, gk) {
			continue
		}
		kept = true
		if !slices.Contains(inv.Kinds, gk) && (slices.Contains(recorded.Kinds, gk) || mayHaveMembers(p, gvk)) {
			inv.Kinds = append(inv.Kinds, gk)
		}
	}
	if !kept {
		return
	}
	inv.Finalizer = inv.Finalizer || recorded.Finalizer
	for _, namespace := range recorded.Namespaces {
		if !slices.Contains(inv.Namespaces, namespace) {
			inv.Namespaces = append(inv.Namespaces, namespace)
		}
	}
}

// mayHaveMembers reports whether the owner has members of the kind that the inventory does not name, as after the loss of the inventory.
// It returns true if the cache cannot tell.
func mayHaveMembers(p *pass, gvk schema.GroupVersionKind) bool {
	k, err := p.env.kinds.OfGVK(gvk)
	if err != nil {
		return true
	}
	list := p.env.newList(k)
	if list == nil {
		return true
	}
	options := append([]client.ListOption{client.MatchingLabels{applyset.PartOfLabel: p.setID}}, p.env.cachedList...)
	if p.env.declared == nil { // the cache may have the namespace of the owner alone
		options = append(options, client.InNamespace(p.owner.GetNamespace()))
	}
	return p.env.client.List(p.ctx, list, options...) != nil || meta.LenList(list) > 0
}
