package memory

import (
	"encoding/json"
	"strings"
	"unique"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/fieldset"
)

// OwnedFields are the engine's fields when the object was last as planned. With them, fields that left the plan can be removed after
// managedFields were lost, because a user has cleared them or a tool has written the object without them. Sets that differ only in the
// owner's UID, as in references to the owner, are stored once. The zero value is unknown.
type OwnedFields struct {
	raw   unique.Handle[string] // with ownerMark in place of the owner's UID
	owner types.UID
}

// ownerMark is not part of any JSON text.
const ownerMark = "\x00"

// Known reports whether the fields are known.
func (o OwnedFields) Known() bool { return o.raw != unique.Handle[string]{} }

// Remembered returns the fields of the entry in a child of the owner; unknown if entry is nil.
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

// text returns the fields as JSON.
func (o OwnedFields) text() []byte {
	return []byte(strings.ReplaceAll(o.raw.Value(), ownerMark, string(o.owner)))
}

// Set returns the fields; an empty set if unknown.
func (o OwnedFields) Set() *fieldset.Set {
	if o.Known() {
		if set, err := fieldset.Parse(o.text()); err == nil {
			return set
		}
	}
	return &fieldset.Set{}
}

// Without returns the fields that no other entry owns. Entries of the manager that the server assigns at the first apply do not count.
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

// Restore adds the fields that no other entry owns to the fields of the engine's entry. It removes them from the manager that the server
// has assigned since.
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
