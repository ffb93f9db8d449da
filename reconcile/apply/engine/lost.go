package engine

import (
	"encoding/json"
	"unique"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/reconcilekit/reconcilekit/reconcile/apply"
	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/compare"
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

// lostEntry reports whether the entries have none of ours although we have
// applied to the object, and not because others have taken all that was in it.
func (c *planned) lostEntry(entries []metav1.ManagedFieldsEntry) bool {
	if managedfields.Entry(entries, c.manager) != nil || c.memory.uid != c.live.GetUID() || !c.memory.owned.known() {
		return false
	}
	lost, err := c.memory.owned.without(entries)
	return err == nil && len(lost) > 0
}

// without returns the fields that none of the others owns. Those of the manager
// that the server has made up count as nobody's.
func (o ownedFields) without(others []metav1.ManagedFieldsEntry) (map[string]any, error) {
	var ours map[string]any
	if err := json.Unmarshal([]byte(o.raw.Value()), &ours); err != nil {
		return nil, err
	}
	for i := range others {
		if e := &others[i]; !madeUp(e) {
			theirs, err := fieldsOf(e)
			if err != nil {
				return nil, err
			}
			exclude(ours, theirs)
		}
	}
	return ours, nil
}

func madeUp(e *metav1.ManagedFieldsEntry) bool {
	return e.Manager == firstApply && e.Operation == metav1.ManagedFieldsOperationUpdate && e.FieldsV1 != nil
}

// exclude removes from a what b owns too. Who owns something without parts
// where a has parts owns an empty list or object, and not the parts.
func exclude(a, b map[string]any) {
	for name, below := range b {
		ours, ok := a[name].(map[string]any)
		if !ok {
			continue
		}
		theirs, _ := below.(map[string]any)
		_, itself := theirs["."]
		switch {
		case len(ours) == 0 && (len(theirs) == 0 || itself):
			delete(a, name)
		case len(ours) > 0:
			if exclude(ours, theirs); len(ours) == 0 {
				delete(a, name)
			}
		}
	}
}

// restore adds what we owned, and others do not own, to the fields of our
// entry, and takes it from the manager that the server has made up for it since.
func (o ownedFields) restore(fields map[string]any, others []metav1.ManagedFieldsEntry) ([]metav1.ManagedFieldsEntry, error) {
	ours, err := o.without(others)
	if err != nil {
		return nil, err
	}
	kept := others[:0:0]
	for _, e := range others {
		if madeUp(&e) {
			theirs, err := fieldsOf(&e)
			if err != nil {
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
	if !c.lostEntry(c.live.GetManagedFields()) || !m.proven || m.intent != c.hash {
		return false
	}
	live, err := p.engine.encoder.Live(c.live)
	if err != nil || after.UID != m.uid {
		return false
	}
	set := remembered(entry).set()
	if len(c.child.Fields) > 0 || p.projection(c, set, live) != m.projection || !compare.Taken(c.kind.schema, set, c.content, live) {
		return false
	}
	m.wrote(after, p.now)
	m.accept(c.hash, after.ResourceVersion)
	m.owned = remembered(entry)
	c.result.Outcome = apply.Updated
	return true
}
