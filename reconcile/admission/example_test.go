package admission_test

import (
	"context"
	"fmt"

	"github.com/reconcilekit/reconcilekit/reconcile/admission"
)

func ExampleDefaulting() {
	hook := admission.Defaulting(kinds(), func(c *Cabinet) {
		if c.Spec.Drawers == 0 {
			c.Spec.Drawers = 3
		}
	})
	object := `{"apiVersion":"example.com/v1","kind":"Cabinet","metadata":{"name":"a"},"spec":{}}`
	response := hook.Handler.Handle(context.Background(), request("v1", object, ""))
	for _, patch := range response.Patches {
		fmt.Println(patch.Json())
	}
	// Output: {"op":"add","path":"/spec/drawers","value":3}
}
