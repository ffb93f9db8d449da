package fieldset

import (
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Later reports whether entry a was written after entry b.
func Later(a, b *metav1.ManagedFieldsEntry) bool {
	return a.Time != nil && (b.Time == nil || b.Time.Before(a.Time))
}

// firstApply is the manager to which the API server assigns all fields of an object without managedFields at the first apply.
const firstApply = "before-first-apply"

// MadeUp reports whether the API server created the entry at the first apply to an object without managedFields.
func MadeUp(e *metav1.ManagedFieldsEntry) bool {
	return e.Manager == firstApply && e.Operation == metav1.ManagedFieldsOperationUpdate && e.FieldsV1 != nil
}

// OwnsMetadata reports whether the entry owns a label or an annotation.
func OwnsMetadata(e *metav1.ManagedFieldsEntry, field, name string) bool {
	if e.Subresource != "" || e.FieldsV1 == nil {
		return false
	}
	set, err := Parse(e.FieldsV1.GetRawBytes())
	if err != nil {
		return false
	}
	for _, below := range []string{"metadata", field, name} {
		if set = set.Field(below); set == nil {
			return false
		}
	}
	return true
}

// Shortened reports whether the entries lack the fields of other managers.
func Shortened(entries []metav1.ManagedFieldsEntry) bool {
	return len(entries) == 0 || slices.ContainsFunc(entries, func(e metav1.ManagedFieldsEntry) bool { return e.FieldsV1 == nil })
}
