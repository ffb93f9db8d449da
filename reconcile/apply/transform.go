package apply

import (
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// ShortenManagedFields returns a cache transform that saves memory and keeps the managedFields that an engine needs. Entries whose manager
// starts with one of the prefixes are kept unchanged. For other entries it keeps manager, operation, time and subresource. Pass the field
// manager, and the former managers during a migration.
//
// Do not send shortened objects back by update: the API server would store the shortened entries. The engine only sends patches.
func ShortenManagedFields(prefixes ...string) func(any) (any, error) {
	return func(in any) (any, error) {
		o, err := meta.Accessor(in)
		if err != nil {
			return in, nil //nolint:nilerr // not an object, for example a tombstone
		}
		entries := o.GetManagedFields()
		for i := range entries {
			e := &entries[i]
			if hasPrefix(e.Manager, prefixes) {
				continue
			}
			entries[i] = metav1.ManagedFieldsEntry{
				Manager: e.Manager, Operation: e.Operation, Time: e.Time, Subresource: e.Subresource,
			}
		}
		o.SetManagedFields(entries)
		return in, nil
	}
}

func hasPrefix(manager string, prefixes []string) bool {
	for _, p := range prefixes {
		if strings.HasPrefix(manager, p) {
			return true
		}
	}
	return false
}
