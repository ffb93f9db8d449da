package apply

import (
	"hash/maphash"
)

// projection is the hash of the fields that a manager owns and of their
// values in the live object. Remembered beside the hash of the intent that
// led to it, it proves later that nothing of ours has changed, whatever the
// server made of the values.
func (h *hasher) projection(set *fieldSet, intent, live map[string]any) uint64 {
	s := h.start()
	h.project(s, set, intent, live)
	return h.finish(s)
}

func (h *hasher) project(s *maphash.Hash, set *fieldSet, intent, live any) {
	if set.leaf() {
		if m, ok := intent.(map[string]any); ok && len(m) == 0 {
			// An empty map is owned, not what others put into it.
			_ = s.WriteByte(tagMap)
			return
		}
		if isAbsent(live) {
			_ = s.WriteByte(tagNil)
			return
		}
		h.content(s, live)
		return
	}
	if set.member {
		_ = s.WriteByte(tagTrue)
	}
	if len(set.fields) > 0 {
		h.projectFields(s, set, intent, live)
	}
	if len(set.items) > 0 {
		h.projectItems(s, set, intent, live)
	}
	_ = s.WriteByte(tagEnd)
}

// projectFields follows the order of the set, which is the server's.
func (h *hasher) projectFields(s *maphash.Hash, set *fieldSet, intent, live any) {
	want, _ := intent.(map[string]any)
	have, _ := live.(map[string]any)
	for i := range set.fields {
		name := set.fields[i].name
		writeString(s, name)
		var v any
		if x, ok := have[name]; ok {
			v = x
		}
		h.project(s, set.fields[i].set, want[name], v)
	}
}

// projectItems follows the order of the live list, so that a changed order is
// a changed projection, and leaves out the items of others.
func (h *hasher) projectItems(s *maphash.Hash, set *fieldSet, intent, live any) {
	want, _ := intent.([]any)
	have, _ := live.([]any)
	found := 0
	for _, item := range have {
		for i := range set.items {
			it := &set.items[i]
			if !it.is(item) {
				continue
			}
			found++
			writeUint(s, uint64(i))
			if it.keys != nil {
				h.project(s, it.set, plannedItem(it, want), item)
			}
			break
		}
	}
	writeUint(s, uint64(len(set.items)-found))
}

func plannedItem(it *itemSet, intent []any) any {
	for _, want := range intent {
		if it.planned("", want, false) {
			return want
		}
	}
	return nil
}

// shapeOf is the hash of the live values at the paths of the intent, without
// knowledge of ownership: lists count as a whole.
func (h *hasher) shapeOf(intent, live any) uint64 {
	s := h.start()
	h.shape(s, intent, live)
	return h.finish(s)
}

func (h *hasher) shape(s *maphash.Hash, intent, live any) {
	want, isMap := intent.(map[string]any)
	have, liveMap := live.(map[string]any)
	if !isMap || !liveMap || len(want) == 0 {
		h.content(s, live)
		return
	}
	for _, name := range sortedKeys(want, true) {
		writeString(s, name)
		h.shape(s, want[name], have[name])
	}
}
