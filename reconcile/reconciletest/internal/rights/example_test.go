package rights_test

import (
	"fmt"

	rbacv1 "k8s.io/api/rbac/v1"

	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/internal/requests"
	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/internal/rights"
)

func Example() {
	rules := []rbacv1.PolicyRule{{APIGroups: []string{"apps"}, Resources: []string{"deployments"}, Verbs: []string{"get", "patch"}}}
	fmt.Println(rights.RightsOf(rules))
	fmt.Println(rights.Allowed(rules, requests.Request{Verb: "apply", Group: "apps", Resource: "deployments"}))
	fmt.Println(rights.Allowed(rules, requests.Request{Verb: "delete", Group: "apps", Resource: "deployments"}))
	// Output:
	// [get apps/deployments patch apps/deployments]
	// true
	// false
}
