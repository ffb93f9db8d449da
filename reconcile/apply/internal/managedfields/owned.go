package managedfields

// OwnedPart is the part of a live value that belongs to a field set. It
// reports false if the value lacks something that is owned.
func OwnedPart(set *Set, want, live any) (any, bool) {
	if set.Leaf() {
		if m, ok := want.(map[string]any); ok && len(m) == 0 {
			return want, true // an empty map is owned, not what others put into it
		}
		return live, true
	}
	switch have := live.(type) {
	case map[string]any:
		wanted, _ := want.(map[string]any)
		out := make(map[string]any, len(set.Fields))
		for i := range set.Fields {
			name := set.Fields[i].Name
			current, exists := have[name]
			if !exists {
				return nil, false
			}
			part, ok := OwnedPart(set.Fields[i].Set, wanted[name], current)
			if !ok {
				return nil, false
			}
			out[name] = part
		}
		return out, true
	case []any:
		return ownedItems(set, want, have)
	}
	return nil, false
}

func ownedItems(set *Set, want any, live []any) (any, bool) {
	wanted, _ := want.([]any)
	out := make([]any, 0, len(set.Items))
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
			if m, isMap := part.(map[string]any); ok && isMap {
				for key, value := range it.Keys {
					if _, set := m[key]; !set {
						m[key] = value
					}
				}
			}
			if !ok {
				return nil, false
			}
			out = append(out, part)
			break
		}
	}
	return out, len(out) == len(set.Items)
}

// of is the planned item that this one is, nil if there is none.
func (it *Item) of(planned []any) any {
	for _, item := range planned {
		if it.Means(item) {
			return item
		}
	}
	return nil
}
