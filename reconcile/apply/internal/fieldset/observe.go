package fieldset

import (
	"fmt"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/content"
)

// Observation is what is compared of a live object. The zero value has seen
// nothing.
type Observation struct {
	// Content is what the object encodes to. It is shared with the object where
	// that is unstructured.
	Content map[string]any
	// Own is what our manager owns of it.
	Own Own
}

// Observe reads what is compared of an object of the API server.
func Observe(e *content.Encoder, o client.Object, manager string) (Observation, error) {
	live, err := e.Live(o)
	if err != nil {
		return Observation{}, fmt.Errorf("encode the live object: %w", err)
	}
	return Observation{Content: live, Own: ownOf(o.GetManagedFields(), manager)}, nil
}
