package fieldset

import (
	"fmt"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/content"
)

// Observation is the compared state of a live object. The zero value is empty.
type Observation struct {
	// Content is the encoded object. It is shared with an unstructured object.
	Content map[string]any
	// Own are the engine's fields in the object.
	Own Own
}

// Observe reads the compared state of an object from the API server.
func Observe(e *content.Encoder, o client.Object, manager string) (Observation, error) {
	live, err := e.Live(o)
	if err != nil {
		return Observation{}, fmt.Errorf("encode the live object: %w", err)
	}
	return Observation{Content: live, Own: ownOf(o.GetManagedFields(), manager)}, nil
}
