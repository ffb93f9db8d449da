package applyset

import (
	"fmt"
	"net/url"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
)

// Inventory is what the owner's metadata says about its children: where they
// may be. It is a superset of the truth at any time.
type Inventory struct {
	Kinds         []schema.GroupKind // sorted
	Namespaces    []string           // besides the owner's own, sorted
	Contributions []ObjectID         // sorted
	Finalizer     bool
}

// Empty says that there has never been a child to keep track of.
func (i *Inventory) Empty() bool {
	return len(i.Kinds) == 0 && len(i.Namespaces) == 0 && len(i.Contributions) == 0
}

// Equal reports whether both have the same.
func (i *Inventory) Equal(o *Inventory) bool {
	return i.Finalizer == o.Finalizer && slices.Equal(i.Kinds, o.Kinds) && slices.Equal(i.Namespaces, o.Namespaces) &&
		slices.Equal(i.Contributions, o.Contributions)
}

// Normalise sorts and removes duplicates.
func (i *Inventory) Normalise() {
	byText := func(a, b fmt.Stringer) int { return strings.Compare(a.String(), b.String()) }
	slices.SortFunc(i.Kinds, func(a, b schema.GroupKind) int { return byText(a, b) })
	i.Kinds = slices.Compact(i.Kinds)
	slices.Sort(i.Namespaces)
	i.Namespaces = slices.Compact(i.Namespaces)
	slices.SortFunc(i.Contributions, CompareIDs)
	i.Contributions = slices.Compact(i.Contributions)
}

// CompareIDs orders objects by their text.
func CompareIDs(a, b ObjectID) int { return strings.Compare(a.Text(), b.Text()) }

// Merge returns what either has.
func (i *Inventory) Merge(o *Inventory) *Inventory {
	out := &Inventory{
		Kinds:         slices.Concat(i.Kinds, o.Kinds),
		Namespaces:    slices.Concat(i.Namespaces, o.Namespaces),
		Contributions: slices.Concat(i.Contributions, o.Contributions),
		Finalizer:     i.Finalizer || o.Finalizer,
	}
	out.Normalise()
	return out
}

// Text is the form in the contributions annotation: Kind.group/namespace/name,
// each escaped.
func (id ObjectID) Text() string {
	return id.GroupKind.String() + "/" + id.Key.Namespace + "/" + url.QueryEscape(id.Key.Name)
}

// FormatContributions renders contributions for the annotation of the owner.
func FormatContributions(ids []ObjectID) string {
	texts := make([]string, 0, len(ids))
	for _, id := range ids {
		texts = append(texts, id.Text())
	}
	return strings.Join(texts, ",")
}

// ParseContributions reads what FormatContributions writes.
func ParseContributions(value string) ([]ObjectID, error) {
	var out []ObjectID
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
		out = append(out, ObjectID{schema.ParseGroupKind(parts[0]), types.NamespacedName{Namespace: parts[1], Name: name}})
	}
	slices.SortFunc(out, CompareIDs)
	return slices.Compact(out), nil
}
