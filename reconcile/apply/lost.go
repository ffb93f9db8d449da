package apply

import (
	"encoding/json"
	"unique"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/managedfields"
)

// firstApply is the manager to whom the API server gives all fields of an
// object without managedFields when somebody applies to it.
const firstApply = "before-first-apply"

// ownedFields are the fields that we owned when the object was last right, so
// that what leaves the plan can be removed although managedFields were lost:
// people wipe them, and some tools write objects without. Equal ones are kept
// once. The zero value knows nothing.
type ownedFields struct{ raw unique.Handle[string] }

func (o ownedFields) known() bool { return o != ownedFields{} }

// remembered returns the fields of the entry; nothing without one.
func remembered(entry *metav1.ManagedFieldsEntry) ownedFields {
	if entry == nil || entry.FieldsV1 == nil {
		return ownedFields{}
	}
	return ownedFields{unique.Make(string(entry.FieldsV1.GetRawBytes()))}
}

// set returns the fields; an empty set where nothing is known.
func (o ownedFields) set() *managedfields.Set {
	if o.known() {
		if set, err := managedfields.Parse([]byte(o.raw.Value())); err == nil {
			return set
		}
	}
	return &managedfields.Set{}
}

// lostEntry reports whether the live object has no entry of ours although we
// have applied to it.
func (c *planned) lostEntry(entry *metav1.ManagedFieldsEntry) bool {
	return entry == nil && c.memory.uid == c.live.GetUID() && c.memory.owned.known()
}

// restore adds what we owned to the fields of our entry, and takes it from the
// manager that the server has made up for it since.
func (o ownedFields) restore(fields map[string]any, others []metav1.ManagedFieldsEntry) ([]metav1.ManagedFieldsEntry, error) {
	var ours map[string]any
	if err := json.Unmarshal([]byte(o.raw.Value()), &ours); err != nil {
		return nil, err
	}
	kept := others[:0:0]
	for _, e := range others {
		if e.Manager == firstApply && e.Operation == metav1.ManagedFieldsOperationUpdate && e.FieldsV1 != nil {
			var theirs map[string]any
			if err := json.Unmarshal(e.FieldsV1.GetRawBytes(), &theirs); err != nil {
				return nil, err
			}
			if subtract(theirs, ours); len(theirs) == 0 {
				continue
			}
			raw, err := json.Marshal(theirs)
			if err != nil {
				return nil, err
			}
			e.FieldsV1 = metav1.NewFieldsV1(string(raw))
		}
		kept = append(kept, e)
	}
	union(fields, ours)
	return kept, nil
}

// subtract removes the fields of b from a. A leaf of b takes all that is below
// it: the other is what the server has split.
func subtract(a, b map[string]any) {
	for name, below := range b {
		theirs, ok := a[name].(map[string]any)
		if !ok {
			continue
		}
		ours, _ := below.(map[string]any)
		if len(ours) == 0 {
			delete(a, name)
			continue
		}
		if subtract(theirs, ours); len(theirs) == 0 || onlyItself(theirs) {
			delete(a, name)
		}
	}
}

// onlyItself reports that nothing is left below a field.
func onlyItself(fields map[string]any) bool {
	_, itself := fields["."]
	return itself && len(fields) == 1
}

// restored reports whether the object, whose entry of ours was given back, is as
// planned: nothing else was lost. after is the object as it was answered.
func (p *pass) restored(c *planned, after *metav1.PartialObjectMetadata) bool {
	m := c.memory
	entry := managedfields.Entry(after.ManagedFields, c.manager)
	if !c.lostEntry(managedfields.Entry(c.live.GetManagedFields(), c.manager)) || !m.proven || m.intent != c.hash {
		return false
	}
	live, err := p.engine.encoder.Live(c.live)
	if err != nil || after.UID != m.uid {
		return false
	}
	set := remembered(entry).set()
	if len(c.child.Fields) > 0 || p.projection(c, set, live) != m.projection {
		return false
	}
	m.wrote(after, p.now)
	m.accept(c.hash, after.ResourceVersion)
	m.owned = remembered(entry)
	c.result.Outcome = Updated
	return true
}
