package fieldset

import (
	"reflect"
	"strconv"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Empty is an object or a list without contents.
type Empty struct {
	Pointer string // a JSON pointer
	Value   any    // the empty object or list
}

// Claims reports whether [Emptied] may find something according to the entries: another manager owns an object or list as empty, and the
// manager owns a part of it.
func Claims(entries []metav1.ManagedFieldsEntry, manager string) bool {
	own, others := claims(entries, manager)
	return claimed(own, others)
}

func claimed(own *Set, others []*Set) bool {
	if own.Leaf() || len(others) == 0 {
		return false
	}
	if onlyClaimed(others) {
		return true
	}
	for i := range own.Fields {
		if claimed(own.Fields[i].Set, below(others, own.Fields[i].Name)) {
			return true
		}
	}
	for i := range own.Items {
		if claimed(own.Items[i].Set, belowItem(others, &own.Items[i])) {
			return true
		}
	}
	return false
}

// Emptied returns the objects and lists outside of the metadata that hold only values that the manager has applied and no longer plans,
// and that another manager owns as empty. It returns none if entries do not show the fields of other managers.
func Emptied(entries []metav1.ManagedFieldsEntry, manager string, live, planned map[string]any) []Empty {
	own, others := claims(entries, manager)
	var out []Empty
	for i := range own.Fields {
		f := &own.Fields[i]
		out = emptied(out, PointerToken(f.Name), f.Set, below(others, f.Name), live[f.Name], planned[f.Name])
	}
	return out
}

// claims returns the fields of the manager outside of the metadata, whose empty maps are not stored, and the fields of each other manager.
func claims(entries []metav1.ManagedFieldsEntry, manager string) (own *Set, others []*Set) {
	mine := ownOf(entries, manager)
	if mine.Entry == nil || Shortened(entries) {
		return &Set{}, nil
	}
	own = &Set{}
	for _, f := range mine.Set.Fields {
		if f.Name != "metadata" {
			own.Fields = append(own.Fields, f)
		}
	}
	for i := range entries {
		e := &entries[i]
		if e == mine.Entry {
			continue
		}
		set, err := Parse(e.FieldsV1.GetRawBytes())
		if err != nil || e.APIVersion != mine.Version {
			return &Set{}, nil
		}
		others = append(others, set)
	}
	return own, others
}

func emptied(out []Empty, at string, own *Set, others []*Set, live, planned any) []Empty {
	if own.Leaf() || len(others) == 0 {
		return out
	}
	switch have := live.(type) {
	case map[string]any:
		if planned == nil && onlyClaimed(others) && ownsAll(own, have) {
			return append(out, Empty{at, map[string]any{}})
		}
		want, _ := planned.(map[string]any)
		for i := range own.Fields {
			f := &own.Fields[i]
			out = emptied(out, at+PointerToken(f.Name), f.Set, below(others, f.Name), have[f.Name], want[f.Name])
		}
	case []any:
		if planned == nil && onlyClaimed(others) && ownsAll(own, have) {
			return append(out, Empty{at, []any{}})
		}
		want, _ := planned.([]any)
		for i := range own.Items {
			it := &own.Items[i]
			if found := it.find(have); found >= 0 {
				out = emptied(out, at+"/"+strconv.Itoa(found), it.Set, belowItem(others, it), have[found], plannedItem(it, want))
			}
		}
	}
	return out
}

// plannedItem returns the item of the planned list, nil if it has none.
func plannedItem(it *Item, list []any) any {
	if found := it.find(list); found >= 0 {
		return list[found]
	}
	return nil
}

// onlyClaimed reports whether the sets have the node itself and nothing below it.
func onlyClaimed(sets []*Set) bool {
	for _, set := range sets {
		if !set.Leaf() {
			return false
		}
	}
	return true
}

// ownsAll reports whether the set owns everything in the live value.
func ownsAll(own *Set, live any) bool {
	part, _ := OwnedPart(own, nil, live)
	return reflect.DeepEqual(part, live)
}

func below(sets []*Set, name string) (out []*Set) {
	for _, set := range sets {
		if field := set.Field(name); field != nil {
			out = append(out, field)
		}
	}
	return out
}

func belowItem(sets []*Set, it *Item) (out []*Set) {
	for _, set := range sets {
		for i := range set.Items {
			if reflect.DeepEqual(set.Items[i].Keys, it.Keys) && reflect.DeepEqual(set.Items[i].Value, it.Value) {
				out = append(out, set.Items[i].Set)
			}
		}
	}
	return out
}
