package order_test

import (
	"fmt"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/order"
)

// A ConfigMap is applied before the Deployment that mounts it.
func Example() {
	config := order.Rank(schema.GroupKind{Kind: "ConfigMap"})
	workload := order.Rank(schema.GroupKind{Group: "apps", Kind: "Deployment"})
	fmt.Println(config < workload)
	// Output:
	// true
}
