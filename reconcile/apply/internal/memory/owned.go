package memory

import (
	"encoding/json"
	"strings"
	"unique"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/fieldset"
)

// OwnedFields are the fields that we owned when the object was last right, so
// that what leaves the plan can be removed although managedFields were lost:
// people wipe them, and some tools write objects without. Those of children of
// different owners that differ in the owner's UID alone, as references to it do,
// are kept once. The zero value knows nothing.
type OwnedFields struct {
	raw   unique.Handle[string] // with ownerMark in the place of the owner's UID
	owner types.UID
}

// ownerMark is no part of any JSON text.
const ownerMark = "\x00"

// Known reports whether anything is known.
func (o OwnedFields) Known() bool { return o.raw != unique.Handle[string]{} }

// Remembered returns the fields of the entry in a child of the owner; nothing
// without an entry.
func Remembered(entry *metav1.ManagedFieldsEntry, owner types.UID) OwnedFields {
	if entry == nil || entry.FieldsV1 == nil {
		return OwnedFields{}
	}
	raw := string(entry.FieldsV1.GetRawBytes())
	if owner != "" {
		raw = strings.ReplaceAll(raw, string(owner), ownerMark)
	}
	return OwnedFields{raw: unique.Make(raw), owner: owner}
}

// text is the fields as JSON.
func (o OwnedFields) text() []byte {
	return []byte(strings.ReplaceAll(o.raw.Value(), ownerMark, string(o.owner)))
}

// Set returns the fields; an empty set where nothing is known.
func (o OwnedFields) Set() *fieldset.Set {
	if o.Known() {
		if set, err := fieldset.Parse(o.text()); err == nil {
			return set
		}
	}
	return &fieldset.Set{}
}

// Without returns the fields that none of the others owns. Those of the manager
// that the server has made up count as nobody's.
func (o OwnedFields) Without(others []metav1.ManagedFieldsEntry) (map[string]any, error) {
	var ours map[string]any
	if err := json.Unmarshal(o.text(), &ours); err != nil {
		return nil, err
	}
	for i := range others {
		if e := &others[i]; !fieldset.MadeUp(e) {
			theirs, err := fieldset.RawFields(e)
			if err != nil {
				return nil, err
			}
			fieldset.ExcludeFields(ours, theirs)
		}
	}
	return ours, nil
}

// Restore adds what we owned, and others do not own, to the fields of our
// entry, and takes it from the manager that the server has made up for it since.
func (o OwnedFields) Restore(fields map[string]any, others []metav1.ManagedFieldsEntry) ([]metav1.ManagedFieldsEntry, error) {
	ours, err := o.Without(others)
	if err != nil {
		return nil, err
	}
	kept := others[:0:0]
	for _, e := range others {
		if fieldset.MadeUp(&e) {
			theirs, err := fieldset.RawFields(&e)
			if err != nil {
				return nil, err
			}
			if fieldset.SubtractFields(theirs, ours); len(theirs) == 0 {
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
	fieldset.UnionFields(fields, ours)
	return kept, nil
}
