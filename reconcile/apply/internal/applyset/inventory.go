package applyset

import (
	"bytes"
	"net/url"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
)

// Inventory is the record of an owner's children in its metadata: where they may be. It is always a superset of the actual places.
type Inventory struct {
	Kinds         []schema.GroupKind // sorted
	Namespaces    []string           // in addition to the owner's own, sorted
	Contributions []ObjectID         // sorted
	// UnreadableKinds and UnreadableContributions are items of the annotations that cannot be parsed. They stay until the engine has
	// searched all kinds. Sorted.
	UnreadableKinds, UnreadableContributions []string
	// Generation is the generation of the last spec whose plan was carried out completely, for owners whose status does not record it.
	// Zero is unknown.
	Generation int64
	Finalizer  bool
	// Orphan reports that the owner is deleted and its children stay.
	Orphan bool
}

// Empty reports whether there has never been a child to record.
func (i *Inventory) Empty() bool {
	return len(i.Kinds) == 0 && len(i.Namespaces) == 0 && len(i.Contributions) == 0 && !i.Garbled()
}

// Garbled reports whether a part of the inventory cannot be parsed.
func (i *Inventory) Garbled() bool {
	return len(i.UnreadableKinds) > 0 || len(i.UnreadableContributions) > 0
}

// Equal reports whether both have the same entries.
func (i *Inventory) Equal(o *Inventory) bool {
	return i.Finalizer == o.Finalizer && i.Orphan == o.Orphan && i.Generation == o.Generation &&
		slices.Equal(i.Kinds, o.Kinds) && slices.Equal(i.Namespaces, o.Namespaces) &&
		slices.Equal(i.Contributions, o.Contributions) &&
		slices.Equal(i.UnreadableKinds, o.UnreadableKinds) && slices.Equal(i.UnreadableContributions, o.UnreadableContributions)
}

// Normalise sorts the entries and removes duplicates.
func (i *Inventory) Normalise() {
	slices.SortFunc(i.Kinds, CompareKinds)
	i.Kinds = slices.Compact(i.Kinds)
	for _, names := range []*[]string{&i.Namespaces, &i.UnreadableKinds, &i.UnreadableContributions} {
		slices.Sort(*names)
		*names = slices.Compact(*names)
	}
	slices.SortFunc(i.Contributions, CompareIDs)
	i.Contributions = slices.Compact(i.Contributions)
}

// CompareIDs orders objects by their text.
func CompareIDs(a, b ObjectID) int {
	const room = 192 // covers nearly all texts, so that sorting does not allocate
	var one, other [room]byte
	return bytes.Compare(a.appendText(one[:0]), b.appendText(other[:0]))
}

// Merge returns the union of both.
func (i *Inventory) Merge(o *Inventory) *Inventory {
	out := &Inventory{
		Kinds:         slices.Concat(i.Kinds, o.Kinds),
		Namespaces:    slices.Concat(i.Namespaces, o.Namespaces),
		Contributions: slices.Concat(i.Contributions, o.Contributions),

		UnreadableKinds:         slices.Concat(i.UnreadableKinds, o.UnreadableKinds),
		UnreadableContributions: slices.Concat(i.UnreadableContributions, o.UnreadableContributions),

		Generation: max(i.Generation, o.Generation),
		Finalizer:  i.Finalizer || o.Finalizer,
		Orphan:     i.Orphan || o.Orphan,
	}
	out.Normalise()
	return out
}

// Text returns the form in the contributions annotation: Kind.group/namespace/name, each escaped.
func (id ObjectID) Text() string { return string(id.appendText(nil)) }

func (id ObjectID) appendText(to []byte) []byte {
	to = append(to, id.GroupKind.Kind...)
	if id.GroupKind.Group != "" {
		to = append(append(to, '.'), id.GroupKind.Group...)
	}
	to = append(append(append(to, '/'), id.Key.Namespace...), '/')
	return append(to, url.QueryEscape(id.Key.Name)...)
}

// FormatContributions formats contributions for the annotation of the owner.
func FormatContributions(ids []ObjectID) string {
	texts := make([]string, 0, len(ids))
	for _, id := range ids {
		texts = append(texts, id.Text())
	}
	return strings.Join(texts, ",")
}

// ParseContributions parses the format of FormatContributions. It also returns the items that it cannot parse.
func ParseContributions(value string) (out []ObjectID, unreadable []string) {
	for text := range strings.SplitSeq(value, ",") {
		if text == "" {
			continue
		}
		if id, ok := parseContribution(text); ok {
			out = append(out, id)
		} else {
			unreadable = append(unreadable, text)
		}
	}
	slices.SortFunc(out, CompareIDs)
	slices.Sort(unreadable)
	return slices.Compact(out), slices.Compact(unreadable)
}

func parseContribution(text string) (id ObjectID, ok bool) {
	const parts = 3
	part := strings.Split(text, "/")
	if len(part) != parts {
		return id, false
	}
	name, err := url.QueryUnescape(part[2])
	gk, isKind := parseGroupKind(part[0])
	if err != nil || name == "" || !isKind {
		return id, false
	}
	return ObjectID{gk, types.NamespacedName{Namespace: part[1], Name: name}}, true
}
