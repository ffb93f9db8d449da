package fieldset

import (
	"strconv"

	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/content"
)

// Comparison compares a live object with an intent. They are equal if the engine's field manager owns exactly the fields of the intent and
// the values agree.
type Comparison struct {
	// Schema is the known schema of the kind.
	Schema Schema
	// Report receives every difference. If it is nil, the comparison stops at the first difference.
	Report    func(d Difference)
	different bool
}

// Difference is one field that an apply would change.
type Difference struct {
	Path string
	// Live and Intent are the values; [content.Absent] marks a missing value.
	Live, Intent any
	// Unowned reports that the values agree, but the engine does not own the field yet.
	Unowned bool
}

// trail is a path whose text is built only on demand.
type trail struct {
	parent *trail
	name   string
}

func (s *trail) String() string {
	if s == nil {
		return ""
	}
	return s.parent.String() + s.name
}

func (c *Comparison) differ(at *trail, live, intent any) {
	c.different = true
	if c.Report != nil {
		c.Report(Difference{Path: at.String(), Live: live, Intent: intent})
	}
}

// done reports whether the comparison can stop.
func (c *Comparison) done() bool { return c.different && c.Report == nil }

// Object compares the content of an object with the planned content. set are the engine's fields, nil for none.
func (c *Comparison) Object(set *Set, intent, live map[string]any) {
	if set == nil {
		set = &Set{}
	}
	c.fields(nil, c.Schema, set, intent, live)
}

// Different reports whether a difference was found.
func (c *Comparison) Different() bool { return c.different }

// fields compares a map whose fields are owned separately.
func (c *Comparison) fields(at *trail, schema Schema, set *Set, intent, live map[string]any) {
	matched := 0
	for _, name := range sortedKeys(intent, c.Report != nil) {
		if c.done() {
			return
		}
		below := &trail{at, "." + name}
		want := intent[name]
		have, exists := live[name]
		if !exists {
			have = content.Absent{}
		}
		sub := set.Field(name)
		if sub == nil {
			c.notOwned(below, schema.field(name), want, have)
			continue
		}
		matched++
		c.value(below, schema.field(name), sub, want, have)
	}
	if matched == len(set.Fields) || c.done() {
		return
	}
	for i := range set.Fields {
		name := set.Fields[i].Name
		if _, planned := intent[name]; !planned {
			below := &trail{at, "." + name}
			if have, exists := live[name]; exists {
				c.differ(below, have, content.Absent{})
			} else {
				c.differ(below, content.Absent{}, content.Absent{})
			}
		}
	}
}

// notOwned compares a planned field that the engine does not own. An empty list is owned only if it is owned as a whole. If its items are
// owned separately, a missing list is equal.
func (c *Comparison) notOwned(at *trail, schema Schema, intent, live any) {
	if l, ok := intent.([]any); ok && len(l) == 0 && schema.merged && isEmpty(live) {
		return
	}
	c.different = true
	if c.Report == nil {
		return
	}
	want, isMap := intent.(map[string]any)
	have, liveMap := live.(map[string]any)
	if !isMap || !liveMap || len(want) == 0 || schema.ownedWhole() {
		c.Report(Difference{Path: at.String(), Live: live, Intent: intent, Unowned: EqualValues(schema, intent, live)})
		return
	}
	for _, name := range sortedKeys(want, true) {
		below, exists := have[name]
		if !exists {
			below = content.Absent{}
		}
		c.notOwned(&trail{at, "." + name}, schema.field(name), want[name], below)
	}
}

// value compares a planned field that the engine owns. An apply of a non-empty list or object owns its contents, not the list or object
// itself.
func (c *Comparison) value(at *trail, schema Schema, set *Set, intent, live any) {
	if set.Leaf() {
		m, isMap := intent.(map[string]any)
		switch {
		case !EqualValues(schema, intent, live):
			c.differ(at, live, intent)
		case isMap && len(m) > 0 && !schema.ownedWhole():
			c.notOwned(at, schema, intent, live) // possibly only the empty object is owned
		}
		return
	}
	if set.Member && c.itself(at, intent, live) {
		return
	}
	switch want := intent.(type) {
	case map[string]any:
		have, ok := live.(map[string]any)
		if !ok || len(set.Fields) == 0 {
			c.differ(at, live, intent)
			return
		}
		c.fields(at, schema, set, want, have)
	case []any:
		have, ok := live.([]any)
		if !ok || len(set.Items) == 0 {
			c.differ(at, live, intent)
			return
		}
		c.items(at, schema, set, want, have)
	default:
		c.differ(at, live, intent)
	}
}

// itself notes that a list or object is owned as such. It reports whether the comparison can stop.
func (c *Comparison) itself(at *trail, intent, live any) bool {
	c.different = true
	if c.Report == nil {
		return true
	}
	c.Report(Difference{Path: at.String(), Live: live, Intent: intent, Unowned: true})
	return false
}

// items compares a list whose items are owned separately. Items must have the planned order, because for example later environment
// variables can refer to earlier ones.
func (c *Comparison) items(at *trail, schema Schema, set *Set, intent, live []any) {
	pairs := pairItems(schema.elem(), set, intent)
	last := -1
	for i, want := range intent {
		if c.done() {
			return
		}
		below := &trail{at, "[" + strconv.Itoa(i) + "]"}
		if pairs[i] < 0 {
			c.differ(below, content.Absent{}, want)
			continue
		}
		item := &set.Items[pairs[i]]
		index := item.find(live)
		if index < 0 {
			c.differ(below, content.Absent{}, want)
			continue
		}
		if index < last {
			c.differ(below, live[index], want)
			continue
		}
		last = index
		c.item(below, schema.elem(), item, want, live[index])
	}
	c.surplus(at, set, pairs, live)
}

func (c *Comparison) item(at *trail, schema Schema, item *Item, intent, live any) {
	want, isMap := intent.(map[string]any)
	have, liveMap := live.(map[string]any)
	if item.Keys == nil || item.Set.Leaf() || !isMap || !liveMap {
		if !EqualValues(schema, intent, live) {
			c.differ(at, live, intent)
		}
		return
	}
	c.fields(at, schema, item.Set, want, have)
}

// surplus reports owned items that left the plan.
func (c *Comparison) surplus(at *trail, set *Set, pairs []int, live []any) {
	if c.done() {
		return
	}
	planned := make([]bool, len(set.Items))
	for _, p := range pairs {
		if p >= 0 {
			planned[p] = true
		}
	}
	for i := range set.Items {
		if planned[i] {
			continue
		}
		if index := set.Items[i].find(live); index >= 0 {
			c.differ(&trail{at, "[" + strconv.Itoa(index) + "]"}, live[index], content.Absent{})
		} else {
			c.differ(at, content.Absent{}, content.Absent{})
		}
	}
}

// pairItems finds the owned item of each planned item: first by all its keys, then for items that leave keys to their defaults. It returns
// -1 for items that are not owned.
func pairItems(schema Schema, set *Set, intent []any) []int {
	pairs := make([]int, len(intent))
	used := make([]bool, len(set.Items))
	for i := range pairs {
		pairs[i] = -1
	}
	for _, defaulted := range []bool{false, true} {
		for i, want := range intent {
			if pairs[i] >= 0 {
				continue
			}
			for j := range set.Items {
				if !used[j] && planned(&set.Items[j], schema, want, defaulted) {
					pairs[i], used[j] = j, true
					break
				}
			}
		}
	}
	return pairs
}

// planned reports whether the item is the one in the intent. Keys that the intent leaves out match if they may be defaults.
func planned(it *Item, schema Schema, intent any, defaulted bool) bool {
	if it.Keys == nil {
		return content.EqualScalars(it.Value, intent)
	}
	m, ok := intent.(map[string]any)
	if !ok {
		return false
	}
	for key, value := range it.Keys {
		want, set := m[key]
		switch {
		case set && !content.EqualScalars(value, want):
			return false
		case !set && (!defaulted || !schema.isDefault(key, value)):
			return false
		}
	}
	return true
}

func isEmpty(x any) bool {
	l, ok := x.([]any)
	return content.IsAbsent(x) || (ok && len(l) == 0)
}
