package intent_test

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"

	"github.com/reconcilekit/reconcilekit/reconcile/apply"
	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/content"
	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/intent"
)

// The hash of a planned child changes with its object and with what its plan
// says about it.
func Example() {
	h := intent.NewHasher(content.NewEncoder())
	green := h.Child(&apply.Child{Object: &corev1.ConfigMap{Data: map[string]string{"color": "green"}}})
	same := h.Child(&apply.Child{Object: &corev1.ConfigMap{Data: map[string]string{"color": "green"}}})
	red := h.Child(&apply.Child{Object: &corev1.ConfigMap{Data: map[string]string{"color": "red"}}})
	fmt.Println(green == same, green == red)
	// Output:
	// true false
}
