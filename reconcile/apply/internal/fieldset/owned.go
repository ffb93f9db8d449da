package fieldset

// OwnedPart returns the part of a live value that belongs to a field set. It returns false if the value lacks an owned field.
func OwnedPart(set *Set, want, live any) (part any, complete bool) {
	if set.Leaf() {
		wanted, empty := want.(map[string]any)
		if _, isMap := live.(map[string]any); isMap && empty && len(wanted) == 0 {
			return want, true // an empty map is owned, but not the values of other managers in it
		}
		return live, true
	}
	switch have := live.(type) {
	case map[string]any:
		wanted, _ := want.(map[string]any)
		out := make(map[string]any, len(set.Fields))
		complete = true
		for i := range set.Fields {
			name := set.Fields[i].Name
			current, exists := have[name]
			if !exists {
				complete = false
				continue
			}
			below, ok := OwnedPart(set.Fields[i].Set, wanted[name], current)
			if complete = complete && ok; below != nil {
				out[name] = below
			}
		}
		return out, complete
	case []any:
		return ownedItems(set, want, have)
	}
	return nil, false
}

func ownedItems(set *Set, want any, live []any) (any, bool) {
	wanted, _ := want.([]any)
	out, complete := make([]any, 0, len(set.Items)), true
	for _, item := range live {
		for i := range set.Items {
			it := &set.Items[i]
			if !it.Is(item) {
				continue
			}
			if it.Keys == nil {
				out = append(out, item)
				break
			}
			part, ok := OwnedPart(it.Set, it.of(wanted), item)
			complete = complete && ok
			if m, isMap := part.(map[string]any); isMap {
				for key, value := range it.Keys {
					if _, set := m[key]; !set {
						m[key] = value
					}
				}
			}
			if part != nil {
				out = append(out, part)
			}
			break
		}
	}
	return out, complete && len(out) == len(set.Items)
}

// of returns the planned item with the same keys, nil if there is none.
func (it *Item) of(planned []any) any {
	for _, item := range planned {
		if it.Means(item) {
			return item
		}
	}
	return nil
}
