package status

import (
	"reflect"
	"slices"

	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
	"sigs.k8s.io/structured-merge-diff/v6/value"
)

const conditionsField = "conditions"

func conditionKeys() []string { return []string{"type"} }

// decision is the status to store.
type decision struct {
	form    form
	managed []string // types of this writer's conditions
	hidden  bool

	// target is the status to store: the fields that the writer sets, and the omitted fields of other writers.
	target map[string]any
	// patched reports that the target omits fields that are not owned only by this writer's applies, so that server-side apply cannot remove
	// them.
	patched bool
}

// decide computes the decision from the stored status, the wanted one and the ownership. It is a pure function.
func decide(from, to map[string]any, o ownership, f form, managed []string) *decision {
	d := &decision{form: f, managed: managed, hidden: o.hidden}
	d.target = d.object(from, to, o.root, true)
	return d
}

func (d *decision) object(from, to map[string]any, p place, root bool) map[string]any {
	out := make(map[string]any, len(to))
	for name, wanted := range to {
		stored, exists := from[name]
		switch {
		case root && name == conditionsField:
			out[name] = d.conditions(list(stored), list(wanted), p.field(name))
		case exists:
			out[name] = d.value(stored, wanted, p.field(name))
		default:
			out[name] = wanted
		}
	}
	for name, stored := range from {
		if _, set := to[name]; set {
			continue
		}
		if root && name == conditionsField {
			if rest := d.conditions(list(stored), nil, p.field(name)); len(rest) > 0 {
				out[name] = rest
			}
			continue
		}
		if rest, remains := d.leftOut(stored, p.field(name)); remains {
			out[name] = rest
		}
	}
	return out
}

// value returns the new value of a field that is set.
func (d *decision) value(stored, wanted any, p place) any {
	oldMap, wasMap := stored.(map[string]any)
	newMap, isMap := wanted.(map[string]any)
	if wasMap && isMap && p.granular() {
		return d.object(oldMap, newMap, p, false)
	}
	oldList, wasList := stored.([]any)
	newList, isList := wanted.([]any)
	if wasList && isList {
		if keys := p.keys(); keys != nil {
			return d.items(oldList, newList, keys, p)
		}
	}
	return wanted
}

// leftOut returns the rest of a field that is not set.
func (d *decision) leftOut(stored any, p place) (rest any, remains bool) {
	switch stored := stored.(type) {
	case map[string]any:
		if p.granular() {
			rest := d.object(stored, nil, p, false)
			return rest, len(rest) > 0
		}
	case []any:
		if keys := p.keys(); keys != nil {
			rest := d.items(stored, nil, keys, p)
			return rest, len(rest) > 0
		}
	}
	return stored, !d.clears(p)
}

// clears reports whether to remove an omitted field. Fields of another manager are kept.
func (d *decision) clears(p place) bool {
	switch {
	case p.others.any():
		return false
	case p.former.any():
		d.patched = true
		return true
	case p.applied.any():
		return true
	case d.hidden:
		return false
	}
	d.patched = true // the field has no owner
	return true
}

// conditions treats conditions as a map by type, regardless of the schema. If the schema makes them one value, managedFields have no
// owners of single conditions, and omitted ones are removed.
func (d *decision) conditions(stored, wanted []any, p place) []any {
	if d.form == keyed || p.keys() != nil {
		return merged(stored, wanted, conditionKeys(), func(old, item any) (any, bool) {
			at := p.at(itemElement(old, conditionKeys()))
			if item == nil {
				return d.leftOutCondition(old, at)
			}
			return d.value(old, item, at), true
		})
	}
	out := merged(stored, wanted, conditionKeys(), func(_, item any) (any, bool) { return item, item != nil })
	d.patched = true
	return out
}

// leftOutCondition returns the rest of a condition that is not set. It keeps the entire condition if another manager owns a part, because
// most fields of a condition are required.
func (d *decision) leftOutCondition(stored any, p place) (rest any, remains bool) {
	patched := d.patched
	if _, remains = d.leftOut(stored, p); remains {
		d.patched = patched // nothing is removed
		return stored, true
	}
	return nil, false
}

// items merges a map list. It keeps the order of the stored items, because that has no meaning.
func (d *decision) items(stored, wanted []any, keys []string, p place) []any {
	return merged(stored, wanted, keys, func(old, item any) (any, bool) {
		at := p.at(itemElement(old, keys))
		if item == nil {
			return d.leftOut(old, at)
		}
		return d.value(old, item, at), true
	})
}

// merged pairs the stored items with the wanted item of the same key or nil, and appends the new ones.
func merged(stored, wanted []any, keys []string, pick func(old, item any) (any, bool)) []any {
	out := make([]any, 0, len(wanted))
	taken := make([]bool, len(wanted))
	for _, old := range stored {
		var item any
		at := slices.IndexFunc(wanted, func(w any) bool { return sameItem(old, w, keys) })
		if at >= 0 {
			if taken[at] {
				continue // a duplicate
			}
			item, taken[at] = wanted[at], true
		}
		if picked, keep := pick(old, item); keep {
			out = append(out, picked)
		}
	}
	for i, item := range wanted {
		if !taken[i] {
			out = append(out, item)
		}
	}
	return out
}

func sameItem(a, b any, keys []string) bool {
	x, isMap := a.(map[string]any)
	y, alsoMap := b.(map[string]any)
	if !isMap || !alsoMap {
		return false
	}
	return !slices.ContainsFunc(keys, func(key string) bool { return !reflect.DeepEqual(x[key], y[key]) })
}

// itemElement returns the name of a map list item in managedFields.
func itemElement(item any, keys []string) fieldpath.PathElement {
	content, _ := item.(map[string]any)
	fields := make(value.FieldList, 0, len(keys))
	for _, key := range keys {
		fields = append(fields, value.Field{Name: key, Value: value.NewValueInterface(content[key])})
	}
	fields.Sort()
	return fieldpath.PathElement{Key: &fields}
}

func list(x any) []any {
	l, _ := x.([]any)
	return l
}

// appliedStatus returns the content of a server-side apply: the fields that this writer has applied and still sets, its changes, and its
// conditions.
func (d *decision) appliedStatus(from, to map[string]any, p place) map[string]any {
	out := d.applied(from, to, p)
	at := p.field(conditionsField)
	items := d.appliedItems(list(from[conditionsField]), list(to[conditionsField]), conditionKeys(), at, true)
	items = append(items, d.appliedRest(list(to[conditionsField]), at)...)
	delete(out, conditionsField)
	if len(items) > 0 {
		out[conditionsField] = items
	}
	return out
}

// appliedRest returns the applied parts of conditions that this writer no longer sets but that remain.
func (d *decision) appliedRest(wanted []any, p place) []any {
	var rest []any
	for _, item := range list(d.target[conditionsField]) {
		at := p.at(itemElement(item, conditionKeys()))
		if !at.applied.any() || slices.ContainsFunc(wanted, func(w any) bool { return sameItem(item, w, conditionKeys()) }) {
			continue
		}
		content, _ := item.(map[string]any)
		own := map[string]any{}
		for name, value := range content {
			if name == "type" || at.field(name).applied.any() {
				own[name] = value
			}
		}
		rest = append(rest, own)
	}
	return rest
}

func (d *decision) applied(from, to map[string]any, p place) map[string]any {
	out := map[string]any{}
	for name, wanted := range to {
		stored, at := from[name], p.field(name)
		if at.applied.any() || !reflect.DeepEqual(stored, wanted) {
			out[name] = d.appliedValue(stored, wanted, at)
		}
	}
	return out
}

func (d *decision) appliedValue(stored, wanted any, p place) any {
	oldMap, wasMap := stored.(map[string]any)
	newMap, isMap := wanted.(map[string]any)
	if wasMap && isMap && p.granular() {
		return d.applied(oldMap, newMap, p)
	}
	oldList, wasList := stored.([]any)
	newList, isList := wanted.([]any)
	if wasList && isList {
		if keys := p.keys(); keys != nil {
			return d.appliedItems(oldList, newList, keys, p, false)
		}
	}
	return wanted
}

func (d *decision) appliedItems(stored, wanted []any, keys []string, p place, conditions bool) []any {
	out := []any{}
	for _, item := range wanted {
		content, isMap := item.(map[string]any)
		if !isMap {
			return wanted // not a map list
		}
		mine := p.at(itemElement(item, keys)).applied.any()
		switch {
		case mine:
		case conditions:
			kind, _ := content["type"].(string)
			if !slices.Contains(d.managed, kind) {
				continue
			}
		case slices.ContainsFunc(stored, func(old any) bool { return reflect.DeepEqual(old, item) }):
			continue
		}
		out = append(out, item)
	}
	return out
}
