package declaration

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
)

// Sparse reports whether the cache needs only the metadata of those objects of the kind that the controller neither owns nor reads. It
// needs all objects in full if a function of the author receives them, or if a filter is declared.
func (k *Kind) Sparse() bool {
	if k.Filter != nil || len(k.When) > 0 || k.Representation == Metadata || k.Representation == Virtual || k.Has(PurposeFor, PurposeRetired) {
		return false
	}
	sparse := slices.Contains([]string{"Secret", "ConfigMap"}, k.Kind) && k.Group == corev1.GroupName
	for _, d := range k.Declarations {
		if d.Mapping != nil || d.Sparse == SparseNever || slices.ContainsFunc(d.Indexes, func(f Field) bool { return !f.OnMetadata }) {
			return false
		}
		sparse = sparse || d.Sparse == SparseAlways
	}
	return sparse
}
