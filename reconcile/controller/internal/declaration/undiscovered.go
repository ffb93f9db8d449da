package declaration

import (
	"fmt"

	"k8s.io/apimachinery/pkg/runtime/schema"
)

// UndiscoveredError reports that the API server cannot tell whether an optional kind is installed, for example because the backend of an
// aggregated API is unavailable.
type UndiscoveredError struct {
	// GVK is the kind.
	GVK schema.GroupVersionKind
	// Err is the error of the discovery.
	Err error
}

// Error returns a message with the kind and the cause.
func (e *UndiscoveredError) Error() string {
	return fmt.Sprintf("discover %s: %s", Print(e.GVK), e.Err)
}

// Unwrap returns the cause.
func (e *UndiscoveredError) Unwrap() error { return e.Err }
