package declaration

import (
	"sync"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/reconcilekit/reconcilekit/reconcile/internal/freshness"
)

// maxNamespaces limits the namespaces that are recorded for a kind.
const maxNamespaces = 4096

// Observed is the newest resourceVersion that the informer of a kind has shown, per namespace. Caches of several
// namespaces are independent of each other. Within a namespace an event of a later version implies that the cache has all earlier
// ones. Resource versions are ordered as KEP-5504 specifies.
type Observed struct {
	mu       sync.Mutex
	versions map[string]string
}

// See records the version of an object that the informer has shown.
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
		clear(o.versions) // no event reports deleted namespaces; unknown versions are looked up in the cache
	}
	o.versions[object.GetNamespace()] = version
}

// Reached reports whether the informer has shown the version or a later one. It returns true for versions that cannot be compared,
// because a wait for them would never end.
func (o *Observed) Reached(namespace, version string) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	last, known := o.versions[namespace]
	if !known {
		return false
	}
	return !freshness.Older(last, version)
}
