package fieldset

import (
	"encoding/json"
	"fmt"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// ExcludeFields removes the fields from a that b also owns. If b owns a node without parts and a owns parts of it, b owns only an empty
// list or object, and the parts stay.
func ExcludeFields(a, b map[string]any) {
	for name, below := range b {
		ours, ok := a[name].(map[string]any)
		if !ok {
			continue
		}
		theirs, _ := below.(map[string]any)
		_, itself := theirs["."]
		switch {
		case len(ours) == 0 && (len(theirs) == 0 || itself):
			delete(a, name)
		case len(ours) > 0:
			if ExcludeFields(ours, theirs); len(ours) == 0 {
				delete(a, name)
			}
		}
	}
}

// SubtractFields removes the fields of b from a. A leaf of b removes everything below it, because the server has split the rest.
func SubtractFields(a, b map[string]any) {
	for name, below := range b {
		theirs, ok := a[name].(map[string]any)
		if !ok {
			continue
		}
		ours, _ := below.(map[string]any)
		if len(ours) == 0 {
			delete(a, name)
			continue
		}
		if SubtractFields(theirs, ours); len(theirs) == 0 || onlyItself(theirs) {
			delete(a, name)
		}
	}
}

// onlyItself reports whether a field has nothing below it.
func onlyItself(fields map[string]any) bool {
	_, itself := fields["."]
	return itself && len(fields) == 1
}

// RawFields returns the fields of an entry as in fieldsV1.
func RawFields(e *metav1.ManagedFieldsEntry) (map[string]any, error) {
	if e.FieldsV1 == nil {
		return nil, nil //nolint:nilnil // no fields
	}
	var fields map[string]any
	if err := json.Unmarshal(e.FieldsV1.GetRawBytes(), &fields); err != nil {
		return nil, fmt.Errorf("entry of %q: %w", e.Manager, err)
	}
	return fields, nil
}

// MoveField moves a field from one set to another.
func MoveField(from, to map[string]any, name string) {
	if below, ok := from[name]; ok {
		to[name] = below
		delete(from, name)
	}
}

// UnionFields adds the fields of b to a.
func UnionFields(a, b map[string]any) {
	for name, below := range b {
		mine, ok := a[name].(map[string]any)
		more, isMap := below.(map[string]any)
		if ok && isMap {
			UnionFields(mine, more)
			continue
		}
		a[name] = below
	}
}

// TakePlanned moves the fields that content has from one set to another. Keyed lists are moved item by item. The entry of a list or object
// itself stays while it has other parts.
func TakePlanned(from map[string]any, content any) map[string]any {
	taken := map[string]any{}
	for key, below := range from {
		value, planned := plannedAt(key, content)
		if !planned {
			continue
		}
		fields, _ := below.(map[string]any)
		if len(fields) == 0 || onlyItself(fields) {
			taken[key] = below
			delete(from, key)
			continue
		}
		if part := TakePlanned(fields, value); len(part) > 0 {
			if _, itself := fields["."]; itself {
				part["."] = map[string]any{}
			}
			taken[key] = part
		}
		if len(fields) == 0 || onlyItself(fields) {
			delete(from, key)
		}
	}
	return taken
}

// TakeCommon moves the fields that both sets have out of one set, item by item. The entry of a list or object itself stays while it has
// other parts.
func TakeCommon(from, other map[string]any) map[string]any {
	taken := map[string]any{}
	for key, below := range from {
		theirs, common := other[key]
		if !common || key == "." {
			continue
		}
		fields, _ := below.(map[string]any)
		if len(fields) == 0 || onlyItself(fields) {
			taken[key] = below
			delete(from, key)
			continue
		}
		more, _ := theirs.(map[string]any)
		if part := TakeCommon(fields, more); len(part) > 0 {
			taken[key] = part
		}
		if len(fields) == 0 || onlyItself(fields) {
			delete(from, key)
		}
	}
	return taken
}

// plannedAt returns the value of content at a key of fieldsV1.
func plannedAt(key string, content any) (any, bool) {
	switch at := content.(type) {
	case map[string]any:
		name, ok := strings.CutPrefix(key, "f:")
		if !ok {
			return nil, false
		}
		value, ok := at[name]
		return value, ok
	case []any:
		set := &Set{}
		if set.add(key, &Set{}) != nil || len(set.Items) == 0 {
			return nil, false
		}
		for _, item := range at {
			if set.Items[0].Means(item) {
				return item, true
			}
		}
	}
	return nil, false
}

// EncodeFields is the inverse of [RawFields].
func EncodeFields(fields map[string]any) (*metav1.FieldsV1, error) {
	raw, err := json.Marshal(fields)
	if err != nil {
		return nil, err
	}
	return metav1.NewFieldsV1(string(raw)), nil
}

// SubtractLeaves removes the leaves of b from a, and nodes that become empty.
func SubtractLeaves(a, b map[string]any) {
	for name, below := range b {
		mine, _ := a[name].(map[string]any)
		theirs, _ := below.(map[string]any)
		if SubtractLeaves(mine, theirs); len(mine) == 0 || len(theirs) == 0 || onlyItself(mine) {
			delete(a, name)
		}
	}
}

// Cut removes the fields at the path, in the form of fieldsV1, and nodes that become empty. It reports whether there were any. A value
// above the path that is owned as a whole stays.
func (p Path) Cut(fields map[string]any) bool { return cut(fields, p.elements) }

func cut(fields map[string]any, path []pathElement) bool {
	if len(path) == 0 {
		return false
	}
	found := false
	for key, value := range fields {
		if !path[0].isKey(key) {
			continue
		}
		if len(path) == 1 {
			delete(fields, key)
			found = true
			continue
		}
		below, _ := value.(map[string]any)
		if cut(below, path[1:]) {
			found = true
			if len(below) == 0 || onlyItself(below) {
				delete(fields, key)
			}
		}
	}
	return found
}

// isKey reports whether a key of fieldsV1 names the element.
func (e pathElement) isKey(key string) bool {
	if e.keys == nil {
		return key == "f:"+e.name
	}
	set := &Set{}
	return set.add(key, &Set{}) == nil && len(set.Items) == 1 && set.Items[0].Keys != nil && e.selects(set.Items[0].Keys)
}
