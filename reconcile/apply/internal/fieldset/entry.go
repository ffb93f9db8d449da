package fieldset

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// Entry returns the entry of the manager's applies, nil if there is none.
func Entry(entries []metav1.ManagedFieldsEntry, manager string) *metav1.ManagedFieldsEntry {
	for i := range entries {
		e := &entries[i]
		if e.Manager == manager && e.Operation == metav1.ManagedFieldsOperationApply && e.Subresource == "" {
			return e
		}
	}
	return nil
}

// LastWriter returns the manager other than ours that wrote last, "unknown" if no entry is left. Entries of the status do not count.
func LastWriter(entries []metav1.ManagedFieldsEntry, ours string) string {
	var last *metav1.ManagedFieldsEntry
	for i := range entries {
		e := &entries[i]
		if (e.Manager == ours && e.Operation == metav1.ManagedFieldsOperationApply) || e.Subresource == "status" {
			continue
		}
		if last == nil || (e.Time != nil && (last.Time == nil || last.Time.Before(e.Time))) {
			last = e
		}
	}
	if last == nil {
		return "unknown"
	}
	return last.Manager
}

// Own are the fields that a manager has applied to an object.
type Own struct {
	// Entry is the entry in managedFields, nil if there is none.
	Entry *metav1.ManagedFieldsEntry
	// Set are the fields; Version is the API version of the field names, empty if there is no entry.
	Set     *Set
	Version string
}

// ownOf returns the fields that the manager has applied.
func ownOf(entries []metav1.ManagedFieldsEntry, manager string) Own {
	own := Own{Entry: Entry(entries, manager), Set: &Set{}}
	if own.Entry == nil || own.Entry.FieldsV1 == nil {
		return own
	}
	if set, err := Parse(own.Entry.FieldsV1.GetRawBytes()); err == nil {
		own.Set, own.Version = set, own.Entry.APIVersion
	}
	return own
}
