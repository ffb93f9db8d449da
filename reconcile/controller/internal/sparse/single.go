package sparse

import (
	"k8s.io/apimachinery/pkg/types"
	toolscache "k8s.io/client-go/tools/cache"
)

// single is implemented by handlers of one object, such as those of reconcile/settings. The cache keeps that object in full, and does not
// send them events of reduced objects.
type single interface {
	// Concerns returns the name of the object.
	Concerns() types.NamespacedName
}

// keepSingle keeps one object in full from the start, and reports whether it does.
func (i *Informer) keepSingle(key types.NamespacedName) bool {
	name := key.Name
	if key.Namespace != "" {
		name = key.Namespace + "/" + key.Name
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	if !i.started.Load() {
		i.singles[name] = true
	}
	return i.singles[name]
}

func (i *Informer) isSingle(key string) bool {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.singles[key]
}

// isWhole reports whether an object of an event has its content.
func isWhole(object any) bool {
	if tombstone, ok := object.(toolscache.DeletedFinalStateUnknown); ok {
		object = tombstone.Obj
	}
	_, reduced := object.(*metadataOnly)
	return !reduced
}
