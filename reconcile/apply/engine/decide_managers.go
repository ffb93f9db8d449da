package engine

import (
	"hash/maphash"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/reconcilekit/reconcilekit/reconcile/apply"
	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/content"
	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/intent"
)

// contestingManagers returns the hash of the entries of the managers that contest fields.
func contestingManagers(h *intent.Hasher, c *child, fields []apply.ContestedField) uint64 {
	return h.Sum(func(s *maphash.Hash) {
		for _, e := range c.live.GetManagedFields() {
			if e.Subresource == "status" || !slices.ContainsFunc(fields, func(f apply.ContestedField) bool { return f.Manager == e.Manager }) {
				continue
			}
			content.WriteString(s, e.Manager)
			content.WriteString(s, string(e.Operation))
			if e.Time != nil {
				content.WriteUint(s, uint64(e.Time.Unix())) //nolint:gosec // any bijection will do
			}
		}
	})
}

// otherManagers returns the hash of the names and times of the other managers. [apply.ShortenManagedFields] does not change it.
func otherManagers(h *intent.Hasher, c *child) uint64 {
	return othersIn(h, c.live.GetManagedFields(), c.manager)
}

func othersIn(h *intent.Hasher, entries []metav1.ManagedFieldsEntry, manager string) uint64 {
	if len(entries) == 0 {
		return 0
	}
	return h.Sum(func(s *maphash.Hash) {
		for i := range entries {
			e := &entries[i]
			if e.Subresource == "status" || (e.Manager == manager && e.Operation == metav1.ManagedFieldsOperationApply) {
				continue
			}
			content.WriteString(s, e.Manager)
			content.WriteString(s, string(e.Operation))
			if e.Time != nil {
				content.WriteUint(s, uint64(e.Time.Unix())) //nolint:gosec // any bijection will do
			}
		}
	})
}
