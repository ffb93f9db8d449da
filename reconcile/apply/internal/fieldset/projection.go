package fieldset

import (
	"hash/maphash"
	"reflect"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/content"
)

var typeObjectMeta = reflect.TypeFor[metav1.ObjectMeta]() //nolint:gochecknoglobals // a constant

// Hasher hashes what an object has of an intent.
type Hasher struct{ *content.Hasher }

// Subject is what a live object is compared with, and by what.
type Subject struct {
	Schema Schema
	// Set are the fields that the manager owns.
	Set *Set
	// Intent is what would be sent, Live what the API server has.
	Intent, Live map[string]any
	// Part reports that the intent is not all of the plan, so that what it is
	// counts, too.
	Part bool
	// Others is a hash of who else owns fields. It counts where an object that is
	// planned with nothing in it holds something: an apply removes what is nobody's.
	Others func() uint64
}

// Verdict is what a comparison has found.
type Verdict struct {
	// Projection is the hash of what is compared.
	Projection uint64
	// Known reports that it is the one that is known, Agrees that an apply would
	// change nothing; of a projection that is known this is not asked.
	Known, Agrees bool
}

// Compare decides whether an apply would change the live object. known is the
// projection with which the same intent was true before, 0 for none.
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

// ProjectionOf is the [Hasher.Projection] of a subject.
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

// holdsMore reports whether an object that is ours and planned with nothing in it
// holds something.
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

// Learnt is what the answer to an apply says.
type Learnt struct {
	// Projection is the hash of what is compared from now on.
	Projection uint64
	// Taken reports that the server has taken the intent as it is, Overridden
	// that it has given planned fields other values.
	Taken, Overridden bool
}

// Learn returns what the answer to an apply of the intent says. What is at the
// paths of createOnly is sent once and not compared: it is taken out of the intent.
func (h Hasher) Learn(s Subject, createOnly []Path) Learnt {
	learnt := Learnt{Taken: Taken(s.Schema, s.Set, s.Intent, s.Live)}
	s.Leave(createOnly)
	learnt.Projection, learnt.Overridden = h.ProjectionOf(s), overridden(s.Schema, s.Set, s.Intent, s.Live)
	return learnt
}

// Leave takes what is at the paths out of the intent, and out of what is
// compared, save a part of what is owned as a whole.
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
	// open reports whether the fields of an object that is planned with nothing
	// in it are owned one by one, as in the kinds of Kubernetes, unless the
	// object is owned as a whole and its entry goes with a change. Elsewhere an
	// apply may remove what is in it and nobody's.
	open bool
}

// Projection is the hash of the fields that a manager owns and of their
// values in the live object. Remembered beside the hash of the intent that
// led to it, it proves later that nothing of ours has changed, whatever the
// server made of the values.
func (h Hasher) Projection(schema Schema, set *Set, intent, live map[string]any) uint64 {
	s := h.Start()
	p := projector{h, schema.source == sourceServer}
	p.project(s, set, intent, live)
	return h.Finish(s)
}

func (h projector) project(s *maphash.Hash, set *Set, intent, live any) {
	if set.Leaf() {
		if m, ok := intent.(map[string]any); ok && len(m) == 0 && h.open && !content.IsAbsent(live) {
			// An empty map is owned, not what others put into it.
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
		// Without it even its empty parts are gone.
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

// projectFields follows the order of the set, which is the server's.
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

// projectEmpty adds which of the lists and objects are missing that are planned
// with nothing in them: where their parts are owned one by one, they are nobody's.
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

// missing is a number for the parts of an intent of nothing but empty objects
// and lists that are not there; 0 if all are.
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

// projectItems follows the order of the live list, so that a changed order is
// a changed projection, and leaves out the items of others.
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

// intentItem is the item of the intent that the set's item comes from; one that
// leaves keys to their defaults where no other has them all.
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

// Shape is the hash of the live values at the paths of the intent, without
// knowledge of ownership: lists count as a whole, and so does an object unless
// the schema has its fields owned one by one.
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
