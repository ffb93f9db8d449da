package plansize_test

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"

	"github.com/reconcilekit/reconcilekit/reconcile/apply"
	"github.com/reconcilekit/reconcilekit/reconcile/internal/plansize"
)

// Largest names the kinds that a plan has most of.
func Example() {
	var plan apply.Plan
	for range 3 {
		plan.Apply(&corev1.ConfigMap{})
	}
	plan.Apply(&corev1.Secret{})
	fmt.Println(plansize.Largest(&plan, func(*apply.Child) int { return 1 }, ""))
	// Output:
	// 3 ConfigMap, 1 Secret
}
