package sparse

import (
	"k8s.io/apimachinery/pkg/types"
	toolscache "k8s.io/client-go/tools/cache"
)

// single is implemented by handlers that look at one object alone, such as those of reconcile/settings. The cache keeps that object whole, and tells them
// nothing of those that it does not.
type single interface {
	// Concerns names the object.
	Concerns() types.NamespacedName
}

// keepSingle keeps one object whole from the start, and reports whether it does.
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
