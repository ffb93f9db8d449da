package reconcile

import "sigs.k8s.io/controller-runtime/pkg/client"

// DefaultPauseAnnotation is the annotation that pauses an owner unless the controller names another one.
const DefaultPauseAnnotation = "reconcilekit.dev/paused"

// IsPaused reports whether the annotation of the object is exactly "true". A paused owner is neither read around nor
// written: not its children, not its status, not its finalizer, also while it is being deleted.
func IsPaused(object client.Object, annotation string) bool {
	return object.GetAnnotations()[annotation] == "true"
}
