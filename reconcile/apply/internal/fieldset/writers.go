package fieldset

import (
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Later reports whether entry a was written after entry b.
func Later(a, b *metav1.ManagedFieldsEntry) bool {
	return a.Time != nil && (b.Time == nil || b.Time.Before(a.Time))
}

// firstApply is the manager to whom the API server gives all fields of an
// object without managedFields when somebody applies to it.
const firstApply = "before-first-apply"

// MadeUp reports whether the entry is the one that the API server makes of an
// object without managedFields when somebody applies to it.
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

// Shortened reports whether the entries do not say what others own.
func Shortened(entries []metav1.ManagedFieldsEntry) bool {
	return len(entries) == 0 || slices.ContainsFunc(entries, func(e metav1.ManagedFieldsEntry) bool { return e.FieldsV1 == nil })
}
