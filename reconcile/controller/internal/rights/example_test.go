package rights_test

import (
	"fmt"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/reconcilekit/reconcilekit/reconcile/controller/internal/rights"
)

func ExampleCompact() {
	for _, rule := range rights.Compact(map[schema.GroupResource][]string{
		{Resource: "pods"}:     {"watch", "list"},
		{Resource: "services"}: {"list", "watch"},
	}) {
		fmt.Println(rule.Resources, rule.Verbs)
	}
	// Output:
	// [pods services] [list watch]
}
