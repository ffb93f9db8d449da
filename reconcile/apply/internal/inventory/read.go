package inventory

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
	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/pass"
	"github.com/reconcilekit/reconcilekit/reconcile/internal/groupkey"
)

// groupInventory is all there may be.
func groupInventory(g groupkey.Group) *applyset.Inventory {
	kinds := g.ChildKinds()
	inv := &applyset.Inventory{Kinds: make([]schema.GroupKind, 0, len(kinds))}
	for _, gvk := range kinds {
		inv.Kinds = append(inv.Kinds, gvk.GroupKind())
	}
	inv.Normalise()
	return inv
}

// read reads the metadata of an owner.
func read(e *pass.Env, o metav1.Object, keys *applyset.Keys) *applyset.Inventory {
	a := o.GetAnnotations()
	inv := &applyset.Inventory{
		Finalizer: slices.Contains(o.GetFinalizers(), e.Options.Finalizer), Namespaces: applyset.ParseNames(a[keys.Namespaces]),
		Orphan: a[keys.Orphan] == pass.OrphanValue,
	}
	inv.Kinds, inv.UnreadableKinds = applyset.ParseGroupKinds(a[keys.Kinds])
	inv.Contributions, inv.UnreadableContributions = applyset.ParseContributions(a[keys.Contributions])
	inv.Generation, _ = strconv.ParseInt(a[keys.Generation], 10, 64)
	return inv
}

// Unreadable names what of the inventory cannot be read, nil if there is
// nothing.
func Unreadable(p *pass.Pass, inv *applyset.Inventory) error {
	var errs []error
	if len(inv.UnreadableKinds) > 0 {
		errs = append(errs, fmt.Errorf("annotation %s: want a list of Kind.group, got %s",
			p.Keys.Kinds, quoted(inv.UnreadableKinds)))
	}
	if len(inv.UnreadableContributions) > 0 {
		errs = append(errs, fmt.Errorf("annotation %s: want a list of Kind.group/namespace/name, got %s",
			p.Keys.Contributions, quoted(inv.UnreadableContributions)))
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

// Planned is the inventory that the plan needs.
func Planned(p *pass.Pass) *applyset.Inventory {
	inv := &applyset.Inventory{Finalizer: p.Plan.Hold && !p.Finalize}
	if p.OwnerChild != nil && len(p.OwnerChild.Planned.Object.GetFinalizers()) > 0 {
		inv.Finalizer = true // somebody has to take them off
	}
	for _, c := range p.Children {
		if c.Kind == nil || c.Memory == nil {
			continue
		}
		switch c.Planned.Mode {
		case apply.Retained:
			continue
		case apply.Contribute, apply.Shared:
			inv.Contributions = append(inv.Contributions, c.ID)
			inv.Finalizer = true
			continue
		case apply.Own, apply.Once:
		}
		if !slices.Contains(inv.Kinds, c.ID.GroupKind) {
			inv.Kinds = append(inv.Kinds, c.ID.GroupKind)
		}
		if ns := c.ID.Key.Namespace; ns != "" && ns != p.Owner.GetNamespace() && !slices.Contains(inv.Namespaces, ns) {
			inv.Namespaces = append(inv.Namespaces, ns)
		}
		if !c.Reach {
			inv.Finalizer = true
		}
	}
	addKept(p, inv)
	inv.Normalise()
	return inv
}

// addKept adds where members of kept kinds may be, which the plan does not say: wherever there were some. An owner that never had a child of
// the kind has nothing to record.
func addKept(p *pass.Pass, inv *applyset.Inventory) {
	kept := false
	recorded := Recorded(p)
	for _, gvk := range p.Plan.KeptKinds {
		gk := gvk.GroupKind()
		if !p.KeepsKind(gk) {
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

// mayHaveMembers reports whether the owner has members of the kind that the inventory does not name, as after it got lost. What the cache cannot
// say counts as yes.
func mayHaveMembers(p *pass.Pass, gvk schema.GroupVersionKind) bool {
	k, err := p.Env.Kinds.OfGVK(gvk)
	if err != nil {
		return true
	}
	list := p.Env.NewList(k)
	if list == nil {
		return true
	}
	options := append([]client.ListOption{client.MatchingLabels{applyset.PartOfLabel: p.SetID}}, p.Env.CachedList...)
	if p.Env.Declared == nil { // the cache may have the namespace of the owner alone
		options = append(options, client.InNamespace(p.Owner.GetNamespace()))
	}
	return p.Env.Client.List(p.Ctx, list, options...) != nil || meta.LenList(list) > 0
}
