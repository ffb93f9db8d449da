package apply

import (
	"strconv"
)

// comparison proves that an object already has what an intent wants: our
// manager owns exactly the fields of the intent, and they have its values.
type comparison struct {
	// report, when set, is told every difference; otherwise the comparison
	// stops at the first.
	report    func(d difference)
	different bool
}

// difference is one field that an apply would change.
type difference struct {
	path string
	// live and intent are the values; absent marks a missing one.
	live, intent any
	// unowned says that the values agree, but the field is not ours yet.
	unowned bool
}

type absent struct{}

// step is a path that is built only when somebody asks for it.
type step struct {
	parent *step
	name   string
}

func (s *step) String() string {
	if s == nil {
		return ""
	}
	return s.parent.String() + s.name
}

// field is the name of the innermost field, which decides how values below it
// are normalised.
func (s *step) field() string {
	name, parent := s.innermost()
	if container, _ := parent.innermost(); isQuantityMap(container) {
		return container // named by resource, so that the container decides
	}
	return name
}

// innermost is the name of the innermost field, and the path above it.
func (s *step) innermost() (string, *step) {
	for ; s != nil; s = s.parent {
		if s.name[0] == '.' {
			return s.name[1:], s.parent
		}
	}
	return "", nil
}

func (c *comparison) differ(at *step, live, intent any) {
	c.different = true
	if c.report != nil {
		c.report(difference{path: at.String(), live: live, intent: intent})
	}
}

// done says that there is nothing more to learn.
func (c *comparison) done() bool { return c.different && c.report == nil }

// fields compares a map whose fields are owned one by one.
func (c *comparison) fields(at *step, set *fieldSet, intent, live map[string]any) {
	matched := 0
	for _, name := range sortedKeys(intent, c.report != nil) {
		if c.done() {
			return
		}
		below := &step{at, "." + name}
		want := intent[name]
		have, exists := live[name]
		if !exists {
			have = absent{}
		}
		sub := set.field(name)
		if sub == nil {
			c.notOwned(below, want, have)
			continue
		}
		matched++
		c.value(below, sub, want, have)
	}
	if matched == len(set.fields) || c.done() {
		return
	}
	for i := range set.fields {
		name := set.fields[i].name
		if _, planned := intent[name]; !planned {
			below := &step{at, "." + name}
			if have, exists := live[name]; exists {
				c.differ(below, have, absent{})
			} else {
				c.differ(below, absent{}, absent{})
			}
		}
	}
}

// notOwned compares a field that is planned and not ours. An empty list is
// owned only where the list is atomic, so that nothing is fine as well.
func (c *comparison) notOwned(at *step, intent, live any) {
	if l, ok := intent.([]any); ok && len(l) == 0 && isEmpty(live) {
		return
	}
	c.different = true
	if c.report == nil {
		return
	}
	want, isMap := intent.(map[string]any)
	have, liveMap := live.(map[string]any)
	if !isMap || !liveMap || len(want) == 0 {
		c.report(difference{path: at.String(), live: live, intent: intent, unowned: equalValues(at.field(), intent, live)})
		return
	}
	for _, name := range sortedKeys(want, true) {
		below, exists := have[name]
		if !exists {
			below = absent{}
		}
		c.notOwned(&step{at, "." + name}, want[name], below)
	}
}

// value compares a field that is planned and ours.
func (c *comparison) value(at *step, set *fieldSet, intent, live any) {
	if set.leaf() {
		if !equalValues(at.field(), intent, live) {
			c.differ(at, live, intent)
		}
		return
	}
	switch want := intent.(type) {
	case map[string]any:
		have, ok := live.(map[string]any)
		if !ok || len(set.fields) == 0 {
			c.differ(at, live, intent)
			return
		}
		c.fields(at, set, want, have)
	case []any:
		have, ok := live.([]any)
		if !ok || len(set.items) == 0 {
			c.differ(at, live, intent)
			return
		}
		c.items(at, set, want, have)
	default:
		c.differ(at, live, intent)
	}
}

// items compares a list whose items are owned one by one. Items must have the
// planned order, as for example later environment variables use earlier ones.
func (c *comparison) items(at *step, set *fieldSet, intent, live []any) {
	pairs := pairItems(at.field(), set, intent)
	last := -1
	for i, want := range intent {
		if c.done() {
			return
		}
		below := &step{at, "[" + strconv.Itoa(i) + "]"}
		if pairs[i] < 0 {
			c.differ(below, absent{}, want)
			continue
		}
		item := &set.items[pairs[i]]
		index := item.find(live)
		if index < 0 {
			c.differ(below, absent{}, want)
			continue
		}
		if item.keys != nil && index < last {
			c.differ(below, live[index], want)
			continue
		}
		last = index
		c.item(below, item, want, live[index])
	}
	c.surplus(at, set, pairs, live)
}

func (c *comparison) item(at *step, item *itemSet, intent, live any) {
	want, isMap := intent.(map[string]any)
	have, liveMap := live.(map[string]any)
	if item.keys == nil || item.set.leaf() || !isMap || !liveMap {
		if !equalValues(at.field(), intent, live) {
			c.differ(at, live, intent)
		}
		return
	}
	c.fields(at, item.set, want, have)
}

// surplus reports items that are ours and no longer planned.
func (c *comparison) surplus(at *step, set *fieldSet, pairs []int, live []any) {
	if c.done() {
		return
	}
	planned := make([]bool, len(set.items))
	for _, p := range pairs {
		if p >= 0 {
			planned[p] = true
		}
	}
	for i := range set.items {
		if planned[i] {
			continue
		}
		if index := set.items[i].find(live); index >= 0 {
			c.differ(&step{at, "[" + strconv.Itoa(index) + "]"}, live[index], absent{})
		} else {
			c.differ(at, absent{}, absent{})
		}
	}
}

// pairItems finds the owned item of each planned item: first by all its keys,
// then for items that leave keys to their defaults. It returns -1 for items
// that are not owned.
func pairItems(field string, set *fieldSet, intent []any) []int {
	pairs := make([]int, len(intent))
	used := make([]bool, len(set.items))
	for i := range pairs {
		pairs[i] = -1
	}
	for _, defaulted := range []bool{false, true} {
		for i, want := range intent {
			if pairs[i] >= 0 {
				continue
			}
			for j := range set.items {
				if !used[j] && set.items[j].planned(field, want, defaulted) {
					pairs[i], used[j] = j, true
					break
				}
			}
		}
	}
	return pairs
}

// planned says whether the item is the one that the intent means. Keys that
// the intent leaves out match when they may be defaults.
func (it *itemSet) planned(field string, intent any, defaulted bool) bool {
	if it.keys == nil {
		return equalScalars(it.value, intent)
	}
	m, ok := intent.(map[string]any)
	if !ok {
		return false
	}
	for key, value := range it.keys {
		want, set := m[key]
		switch {
		case set && !equalScalars(value, want):
			return false
		case !set && (!defaulted || !isDefault(field, key, value)):
			return false
		}
	}
	return true
}

// find returns the index of the item in the live list, or -1.
func (it *itemSet) find(live []any) int {
	for i := range live {
		if it.is(live[i]) {
			return i
		}
	}
	return -1
}

// is says whether the live item is this one.
func (it *itemSet) is(live any) bool {
	if it.keys == nil {
		return equalScalars(it.value, live)
	}
	m, ok := live.(map[string]any)
	if !ok {
		return false
	}
	for key, value := range it.keys {
		if have, set := m[key]; !equalScalars(value, have) && (set || !isZero(value)) {
			return false
		}
	}
	return true
}
