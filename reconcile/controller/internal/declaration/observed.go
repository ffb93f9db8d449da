package declaration

import (
	"sync"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/reconcilekit/reconcilekit/reconcile/internal/freshness"
)

// maxNamespaces bounds what is kept for a kind.
const maxNamespaces = 4096

// Observed is the newest resourceVersion that the informer of a kind has shown, per namespace. Caches of several
// namespaces are independent of each other, and within one an event of a later version means that all earlier ones are
// in the cache. Resource versions are ordered as KEP-5504 says.
type Observed struct {
	mu       sync.Mutex
	versions map[string]string
}

// See notes the version of an object that the informer has shown.
func (o *Observed) See(object client.Object) {
	o.mu.Lock()
	defer o.mu.Unlock()
	version := object.GetResourceVersion()
	last, known := o.versions[object.GetNamespace()]
	if known {
		if !freshness.Older(last, version) {
			return
		}
	}
	switch {
	case o.versions == nil:
		o.versions = map[string]string{}
	case !known && len(o.versions) >= maxNamespaces:
		clear(o.versions) // of namespaces that are gone nobody tells; what is not known is looked up in the cache
	}
	o.versions[object.GetNamespace()] = version
}

// Reached reports whether the informer has shown the version or a later one. Versions that cannot be compared count as
// reached: nothing could ever be waited for.
func (o *Observed) Reached(namespace, version string) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	last, known := o.versions[namespace]
	if !known {
		return false
	}
	return !freshness.Older(last, version)
}
