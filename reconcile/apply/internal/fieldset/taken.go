package fieldset

import (
	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/content"
)

// Taken reports whether an apply of intent was taken as it is: its fields are
// ours in the answer, and there, whatever the server made of their values. An
// apply that empties a list or an object loses the field at first, and has it
// when the same is applied once more.
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

// takenLeaf handles what is owned without parts: a value, something owned as a
// whole, or an object of which only lists and objects with nothing in them are
// planned.
func takenLeaf(schema Schema, set *Set, intent, live any) bool {
	want, isMap := intent.(map[string]any)
	if !set.Member {
		return isMap && len(want) == 0
	}
	have, _ := live.(map[string]any)
	if isMap && len(want) == 0 && len(have) > 0 && !schema.partly() {
		return false // what is in it may be of others, or left from before
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

// takenItems pairs items by the keys that the intent has: others are filled in.
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

// agrees reports whether the intent has no other key than the item.
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

// takenField handles what is owned only if something is in it: an empty list
// whose items are owned one by one, and objects that hold nothing else. What
// else is in it may be of others, or a default in place of what was emptied.
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

// present reports whether there is a value, or none is the same. An object with
// nothing in it is a value behind a pointer of the server's type; where the
// server drops it for a reason of its own, one more apply says so.
func present(schema Schema, intent, live any) bool {
	return live != nil || EqualValues(schema, intent, content.Absent{})
}

// hollow reports whether the value holds nothing but empty lists and objects.
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
