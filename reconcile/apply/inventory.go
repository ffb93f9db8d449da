package apply

import (
	"fmt"
	"net/url"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
)

// inventory is what the owner's metadata says about its children: where they
// may be. It is a superset of the truth at any time.
type inventory struct {
	kinds         []schema.GroupKind // sorted
	namespaces    []string           // besides the owner's own, sorted
	contributions []objectID         // sorted
	finalizer     bool
}

// empty says that there has never been a child to keep track of.
func (i *inventory) empty() bool {
	return len(i.kinds) == 0 && len(i.namespaces) == 0 && len(i.contributions) == 0
}

func (i *inventory) equal(o *inventory) bool {
	return i.finalizer == o.finalizer && slices.Equal(i.kinds, o.kinds) && slices.Equal(i.namespaces, o.namespaces) &&
		slices.Equal(i.contributions, o.contributions)
}

// normalise sorts and removes duplicates.
func (i *inventory) normalise() {
	byText := func(a, b fmt.Stringer) int { return strings.Compare(a.String(), b.String()) }
	slices.SortFunc(i.kinds, func(a, b schema.GroupKind) int { return byText(a, b) })
	i.kinds = slices.Compact(i.kinds)
	slices.Sort(i.namespaces)
	i.namespaces = slices.Compact(i.namespaces)
	slices.SortFunc(i.contributions, compareIDs)
	i.contributions = slices.Compact(i.contributions)
}

func compareIDs(a, b objectID) int { return strings.Compare(a.text(), b.text()) }

// merge returns what either has.
func (i *inventory) merge(o *inventory) *inventory {
	out := &inventory{
		kinds:         slices.Concat(i.kinds, o.kinds),
		namespaces:    slices.Concat(i.namespaces, o.namespaces),
		contributions: slices.Concat(i.contributions, o.contributions),
		finalizer:     i.finalizer || o.finalizer,
	}
	out.normalise()
	return out
}

// text is the form in the contributions annotation: Kind.group/namespace/name,
// each escaped.
func (id objectID) text() string {
	return id.gk.String() + "/" + id.key.Namespace + "/" + url.QueryEscape(id.key.Name)
}

func formatContributions(ids []objectID) string {
	texts := make([]string, 0, len(ids))
	for _, id := range ids {
		texts = append(texts, id.text())
	}
	return strings.Join(texts, ",")
}

// parseContributions reads what formatContributions writes.
func parseContributions(value string) ([]objectID, error) {
	var out []objectID
	for text := range strings.SplitSeq(value, ",") {
		if text == "" {
			continue
		}
		parts := strings.Split(text, "/")
		if len(parts) != 3 {
			return nil, fmt.Errorf("contribution %q must be Kind.group/namespace/name", text)
		}
		name, err := url.QueryUnescape(parts[2])
		if err != nil || name == "" || parts[0] == "" {
			return nil, fmt.Errorf("contribution %q must be Kind.group/namespace/name", text)
		}
		out = append(out, objectID{schema.ParseGroupKind(parts[0]), types.NamespacedName{Namespace: parts[1], Name: name}})
	}
	slices.SortFunc(out, compareIDs)
	return slices.Compact(out), nil
}

// readInventory reads the metadata of an owner.
func (e *Engine) readInventory(o metav1.Object) (*inventory, error) {
	a := o.GetAnnotations()
	kinds, err := parseGroupKinds(a[GroupKindsAnnotation])
	if err != nil {
		return nil, fmt.Errorf("inventory: %w", err)
	}
	contributions, err := parseContributions(a[e.contributionsAnnotation()])
	if err != nil {
		return nil, fmt.Errorf("inventory: %s: %w", e.contributionsAnnotation(), err)
	}
	return &inventory{
		kinds: kinds, namespaces: parseNames(a[NamespacesAnnotation]), contributions: contributions,
		finalizer: slices.Contains(o.GetFinalizers(), e.opts.Finalizer),
	}, nil
}

func (e *Engine) contributionsAnnotation() string { return e.opts.Domain + "/contributions" }

// AllowPruneAnnotation is the annotation on an owner that allows the prune with
// the token that it has as its value, see [PruneBlockedError].
func (e *Engine) AllowPruneAnnotation() string { return e.allowPrune }

// planned is the inventory that the plan needs.
func (p *pass) plannedInventory() *inventory {
	inv := &inventory{finalizer: p.set.Hold && !p.finalize}
	for _, c := range p.children {
		if c.kind == nil || c.memory == nil {
			continue
		}
		switch c.child.Mode {
		case Shared:
			continue
		case Contribute:
			inv.contributions = append(inv.contributions, c.id)
			inv.finalizer = true
			continue
		case Own, Once:
		}
		if !slices.Contains(inv.kinds, c.id.gk) {
			inv.kinds = append(inv.kinds, c.id.gk)
		}
		if ns := c.id.key.Namespace; ns != "" && ns != p.owner.GetNamespace() && !slices.Contains(inv.namespaces, ns) {
			inv.namespaces = append(inv.namespaces, ns)
		}
		if !c.reach {
			inv.finalizer = true
		}
	}
	inv.normalise()
	return inv
}
