package fieldset

import (
	"hash/maphash"
	"reflect"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/content"
)

var typeObjectMeta = reflect.TypeFor[metav1.ObjectMeta]() //nolint:gochecknoglobals // a constant

// Hasher hashes the part of an object that an intent owns.
type Hasher struct{ *content.Hasher }

// Subject is a live object with the intent and the fields that it is compared by.
type Subject struct {
	Schema Schema
	// Set are the fields that the manager owns.
	Set *Set
	// Intent is the content that would be sent; Live is the content of the object.
	Intent, Live map[string]any
	// Part reports that the intent is only a part of the plan, so that the projection includes the intent.
	Part bool
	// Others returns a hash of the other owners of fields. It is part of the projection if an object that is planned as empty has
	// contents, because an apply removes contents without an owner.
	Others func() uint64
}

// Verdict is the result of a comparison.
type Verdict struct {
	// Projection is the hash of the compared state.
	Projection uint64
	// Known reports that the projection equals the known one. Agrees reports that an apply would change nothing; it is not computed for a
	// known projection.
	Known, Agrees bool
}

// Compare decides whether an apply would change the live object. known is the projection of the last proof of the same intent, 0 for none.
func (h Hasher) Compare(s Subject, known uint64) Verdict {
	if s.Set == nil {
		s.Set = &Set{}
	}
	v := Verdict{Projection: h.ProjectionOf(s)}
	if v.Known = known != 0 && known == v.Projection; !v.Known {
		comparison := Comparison{Schema: s.Schema}
		comparison.Object(s.Set, s.Intent, s.Live)
		v.Agrees = !comparison.Different()
	}
	return v
}

// ProjectionOf returns the [Hasher.Projection] of a subject.
func (h Hasher) ProjectionOf(s Subject) uint64 {
	if s.Set == nil {
		s.Set = &Set{}
	}
	projected := h.Projection(s.Schema, s.Set, s.Intent, s.Live)
	if s.Part {
		projected += h.Sum(func(sum *maphash.Hash) { h.Content(sum, s.Intent) })
	}
	if s.Others != nil && s.Schema.source != sourceServer && holdsMore(s.Set, s.Intent, s.Live) {
		projected += s.Others()
	}
	return projected
}

// holdsMore reports whether an owned object that is planned as empty has contents.
func holdsMore(set *Set, intent, live map[string]any) bool {
	for i := range set.Fields {
		f := &set.Fields[i]
		want, isMap := intent[f.Name].(map[string]any)
		have, liveMap := live[f.Name].(map[string]any)
		if !isMap || !liveMap {
			continue
		}
		if f.Set.Leaf() && len(want) == 0 && len(have) > 0 || holdsMore(f.Set, want, have) {
			return true
		}
	}
	return false
}

// Learnt is the result of an answer to an apply.
type Learnt struct {
	// Projection is the hash of the compared state from now on.
	Projection uint64
	// Taken reports that the server has accepted the intent without changes; Overridden reports that it has changed planned fields.
	Taken, Overridden bool
}

// Learn returns the result of an answer to an apply of the intent. Values at the paths of createOnly are sent once and not compared; they
// are removed from the intent.
func (h Hasher) Learn(s Subject, createOnly []Path) Learnt {
	learnt := Learnt{Taken: Taken(s.Schema, s.Set, s.Intent, s.Live)}
	s.Leave(createOnly)
	learnt.Projection, learnt.Overridden = h.ProjectionOf(s), overridden(s.Schema, s.Set, s.Intent, s.Live)
	return learnt
}

// Leave excludes the values at the paths from the intent and from the comparison, except parts of a value that is owned as a whole.
func (s *Subject) Leave(paths []Path) {
	for _, path := range paths {
		if path.PartOf(s.Set) {
			continue
		}
		path.Remove(s.Intent)
		s.Set = path.Without(s.Set)
	}
}

// projector hashes a projection.
type projector struct {
	Hasher
	// open reports whether the fields of an object that is planned as empty are owned separately, as in the kinds of Kubernetes, unless
	// the object is owned as a whole. In other kinds an apply may remove contents without an owner.
	open bool
}

// Projection returns the hash of the fields that a manager owns and of their values in the live object. Stored with the hash of the
// applied intent, it proves later that no owned field has changed, even if the server has changed the values.
func (h Hasher) Projection(schema Schema, set *Set, intent, live map[string]any) uint64 {
	s := h.Start()
	p := projector{h, schema.source == sourceServer}
	p.project(s, set, intent, live)
	return h.Finish(s)
}

func (h projector) project(s *maphash.Hash, set *Set, intent, live any) {
	if set.Leaf() {
		if m, ok := intent.(map[string]any); ok && len(m) == 0 && h.open && !content.IsAbsent(live) {
			// An empty map is owned, but not the values of other managers in it.
			_ = s.WriteByte(content.TagMap)
			return
		}
		if content.IsAbsent(live) {
			_ = s.WriteByte(content.TagNil)
			return
		}
		h.Content(s, live)
		return
	}
	if set.Member {
		_ = s.WriteByte(content.TagTrue)
	}
	if content.IsAbsent(live) {
		// Without it even its empty parts are missing.
		_ = s.WriteByte(content.TagNil)
	}
	if len(set.Fields) > 0 {
		h.projectFields(s, set, intent, live)
	}
	if len(set.Items) > 0 {
		h.projectItems(s, set, intent, live)
	}
	_ = s.WriteByte(content.TagEnd)
}

// projectFields uses the order of the set, which is the server's.
func (h projector) projectFields(s *maphash.Hash, set *Set, intent, live any) {
	want, _ := intent.(map[string]any)
	have, _ := live.(map[string]any)
	h.projectEmpty(s, set, want, have)
	for i := range set.Fields {
		name := set.Fields[i].Name
		content.WriteString(s, name)
		h.project(s, set.Fields[i].Set, want[name], have[name])
	}
}

// projectEmpty adds which lists and objects that are planned as empty are missing. If their parts are owned separately, they have no
// owner.
func (h Hasher) projectEmpty(s *maphash.Hash, set *Set, intent, live map[string]any) {
	var missing uint64
	for name, value := range intent {
		if set.Field(name) == nil && hollow(value) {
			missing += h.Text(name) * h.missing(value, live[name])
		}
	}
	if missing != 0 {
		content.WriteUint(s, missing)
	}
}

// missing returns a number for the missing parts of an intent that consists of empty objects and lists; 0 if none is missing.
func (h Hasher) missing(intent, live any) uint64 {
	if live == nil {
		return 1
	}
	want, _ := intent.(map[string]any)
	have, _ := live.(map[string]any)
	var out uint64
	for name, value := range want {
		out += h.Text(name) * h.missing(value, have[name])
	}
	return out
}

// projectItems uses the order of the live list, so that another order changes the projection. It ignores the items of other managers.
func (h projector) projectItems(s *maphash.Hash, set *Set, intent, live any) {
	want, _ := intent.([]any)
	have, _ := live.([]any)
	found := 0
	for _, item := range have {
		for i := range set.Items {
			it := &set.Items[i]
			if !it.Is(item) {
				continue
			}
			found++
			content.WriteUint(s, uint64(i))
			if it.Keys != nil {
				h.project(s, it.Set, intentItem(it, want), item)
			}
			break
		}
	}
	content.WriteUint(s, uint64(len(set.Items)-found))
}

// intentItem returns the item of the intent for an item of the set. An item that leaves keys to their defaults matches if no other item
// has all keys.
func intentItem(it *Item, intent []any) any {
	for _, want := range intent {
		if it.Names(want) {
			return want
		}
	}
	for _, want := range intent {
		if it.Means(want) {
			return want
		}
	}
	return nil
}

// Shape returns the hash of the live values at the paths of the intent, independent of ownership. Lists are hashed entirely, and so are
// objects unless the schema shows that their fields are owned separately.
func (h Hasher) Shape(schema Schema, intent, live map[string]any) uint64 {
	s := h.Start()
	for _, name := range sortedKeys(intent, true) {
		content.WriteString(s, name)
		below := schema.field(name)
		if name == "metadata" {
			below = Schema{source: sourceServer, goType: typeObjectMeta}
		}
		h.shape(s, below, intent[name], live[name])
	}
	return h.Finish(s)
}

func (h Hasher) shape(s *maphash.Hash, schema Schema, intent, live any) {
	want, isMap := intent.(map[string]any)
	have, liveMap := live.(map[string]any)
	if !isMap || !liveMap || len(want) == 0 || !schema.partly() {
		h.Content(s, live)
		return
	}
	for _, name := range sortedKeys(want, true) {
		content.WriteString(s, name)
		h.shape(s, schema.field(name), want[name], have[name])
	}
}
