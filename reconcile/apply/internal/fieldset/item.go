package fieldset

import "github.com/reconcilekit/reconcilekit/reconcile/apply/internal/content"

// find returns the index of the item in the live list, or -1.
func (it *Item) find(live []any) int {
	for i := range live {
		if it.Is(live[i]) {
			return i
		}
	}
	return -1
}

// Is reports whether the live item has the keys or the value of this item.
func (it *Item) Is(live any) bool {
	if it.Keys == nil {
		return content.EqualScalars(it.Value, live)
	}
	m, ok := live.(map[string]any)
	if !ok {
		return false
	}
	for key, value := range it.Keys {
		if have, set := m[key]; !content.EqualScalars(value, have) && (set || !content.IsZero(value)) {
			return false
		}
	}
	return true
}

// Names reports whether a list item has all keys of this item, or its value.
func (it *Item) Names(item any) bool {
	if it.Keys == nil {
		return content.EqualScalars(it.Value, item)
	}
	m, ok := item.(map[string]any)
	if !ok {
		return false
	}
	for key, value := range it.Keys {
		if have, set := m[key]; !set || !content.EqualScalars(value, have) {
			return false
		}
	}
	return true
}

// Means reports whether a list item is, or may be, this item: missing keys may be defaults.
func (it *Item) Means(item any) bool {
	m, ok := item.(map[string]any)
	if it.Keys == nil || !ok {
		return it.Keys == nil && content.EqualScalars(it.Value, item)
	}
	for key, value := range it.Keys {
		if have, set := m[key]; set && !content.EqualScalars(value, have) {
			return false
		}
	}
	return true
}

// Intersects reports whether content sets a field of the set.
func (s *Set) Intersects(content any) bool {
	if s.Leaf() {
		return true
	}
	switch x := content.(type) {
	case map[string]any:
		for i := range s.Fields {
			if below, ok := x[s.Fields[i].Name]; ok && s.Fields[i].Set.Intersects(below) {
				return true
			}
		}
		return false
	case []any:
		for i := range s.Items {
			for _, item := range x {
				if it := &s.Items[i]; it.Means(item) && (it.Keys == nil || it.intersects(item)) {
					return true
				}
			}
		}
		return false
	}
	return true
}

// intersects ignores the keys, which all managers own with the same value.
func (it *Item) intersects(item any) bool {
	m, _ := item.(map[string]any)
	for i := range it.Set.Fields {
		f := &it.Set.Fields[i]
		if _, isKey := it.Keys[f.Name]; isKey {
			continue
		}
		if below, ok := m[f.Name]; ok && f.Set.Intersects(below) {
			return true
		}
	}
	return false
}
