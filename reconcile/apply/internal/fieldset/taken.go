package fieldset

import (
	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/content"
)

// Taken reports whether the server accepted an apply of intent: the answer has its fields, and the engine owns them, whatever their
// values. An apply that empties a list or object loses the field at first; a second identical apply adds it.
func Taken(schema Schema, set *Set, intent, live any) bool {
	if set.Leaf() {
		return takenLeaf(schema, set, intent, live)
	}
	switch want := intent.(type) {
	case map[string]any:
		have, _ := live.(map[string]any)
		for name, value := range want {
			if !takenField(schema.field(name), set.Field(name), value, have[name]) {
				return false
			}
		}
	case []any:
		have, _ := live.([]any)
		return len(set.Items) == len(want) && takenItems(schema.elem(), set, want, have)
	}
	return true
}

// takenLeaf handles nodes that are owned without parts: a scalar, a value that is owned as a whole, or an object whose planned contents
// are only empty lists and objects.
func takenLeaf(schema Schema, set *Set, intent, live any) bool {
	want, isMap := intent.(map[string]any)
	if !set.Member {
		return isMap && len(want) == 0
	}
	have, _ := live.(map[string]any)
	if isMap && len(want) == 0 && len(have) > 0 && !schema.partly() {
		return false // its contents may belong to other managers or to an earlier plan
	}
	if isMap && !schema.ownedWhole() {
		for name, value := range want {
			if !present(schema.field(name), value, have[name]) {
				return false
			}
		}
	}
	return present(schema, intent, live)
}

// takenItems pairs items by the keys in the intent; the server fills in other keys.
func takenItems(schema Schema, set *Set, intent, live []any) bool {
	used := make([]bool, len(set.Items))
	for _, want := range intent {
		taken := false
		for i := range set.Items {
			item := &set.Items[i]
			if used[i] || !agrees(item, want) {
				continue
			}
			used[i] = true
			index := item.find(live)
			taken = index >= 0 && (item.Keys == nil || Taken(schema, item.Set, want, live[index]))
			break
		}
		if !taken {
			return false
		}
	}
	return true
}

// agrees reports whether the intent has no key that differs from the item's.
func agrees(it *Item, intent any) bool {
	if it.Keys == nil {
		return content.EqualScalars(it.Value, intent)
	}
	m, ok := intent.(map[string]any)
	for key, value := range it.Keys {
		if want, set := m[key]; set && !content.EqualScalars(value, want) {
			return false
		}
	}
	return ok
}

// takenField handles nodes that are owned only if they have contents: an empty list whose items are owned separately, and objects that
// only contain such lists. Other contents may belong to other managers, or be defaults.
func takenField(schema Schema, set *Set, intent, live any) bool {
	if set != nil {
		return Taken(schema, set, intent, live)
	}
	if !hollow(intent) || !hollow(orEmpty(live)) || !present(schema, intent, live) {
		return false
	}
	want, _ := intent.(map[string]any)
	have, _ := live.(map[string]any)
	for name, value := range want {
		if !takenField(schema.field(name), nil, value, have[name]) {
			return false
		}
	}
	return true
}

func orEmpty(live any) any {
	if live == nil {
		return []any{}
	}
	return live
}

// present reports whether there is a value, or a missing value is equivalent. An empty object is a value behind a pointer of the server's
// type. If the server drops it for another reason, one more apply shows that.
func present(schema Schema, intent, live any) bool {
	return live != nil || EqualValues(schema, intent, content.Absent{})
}

// hollow reports whether the value consists only of empty lists and objects.
func hollow(value any) bool {
	switch x := value.(type) {
	case map[string]any:
		for _, below := range x {
			if !hollow(below) {
				return false
			}
		}
		return true
	case []any:
		return len(x) == 0
	}
	return false
}
