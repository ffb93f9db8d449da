package fieldset

import (
	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/content"
)

// overridden reports whether the answer to an apply has another value for a planned field, beyond added defaults. A mutating webhook, for
// example, has changed it. That can end without a change of the object.
func overridden(schema Schema, set *Set, intent, live any) bool {
	switch want := intent.(type) {
	case map[string]any:
		have, ok := live.(map[string]any)
		return !ok || overriddenField(schema, set, want, have)
	case []any:
		have, ok := live.([]any)
		if set == nil || len(set.Items) == 0 {
			return !ok || overriddenWhole(schema.elem(), want, have)
		}
		return overriddenItem(schema.elem(), set, want, have)
	}
	if schema.loses() {
		schema = Schema{}
	}
	return !EqualValues(schema, intent, live)
}

func overriddenField(schema Schema, set *Set, want, have map[string]any) bool {
	for name, value := range want {
		below := schema.field(name)
		current, exists := have[name]
		if !exists {
			if !hollow(value) && !EqualValues(below, value, content.Absent{}) {
				return true
			}
			continue
		}
		var owned *Set
		if set != nil {
			owned = set.Field(name)
		}
		if overridden(below, owned, value, current) {
			return true
		}
	}
	return false
}

// overriddenWhole compares the items of a list that is owned as a whole.
func overriddenWhole(schema Schema, want, have []any) bool {
	if len(want) != len(have) {
		return true
	}
	for i := range want {
		if overridden(schema, nil, want[i], have[i]) {
			return true
		}
	}
	return false
}

// overriddenItem compares items that are owned separately. [Taken] finds missing items.
func overriddenItem(schema Schema, set *Set, want, have []any) bool {
	for i, at := range pairItems(schema, set, want) {
		if at < 0 {
			continue
		}
		item := &set.Items[at]
		if index := item.find(have); index >= 0 && item.Keys != nil && overridden(schema, item.Set, want[i], have[index]) {
			return true
		}
	}
	return false
}
