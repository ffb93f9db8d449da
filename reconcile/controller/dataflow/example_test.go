package dataflow_test

import (
	"fmt"

	rbacv1 "k8s.io/api/rbac/v1"

	"github.com/reconcilekit/reconcilekit/reconcile/controller/dataflow"
)

func ExamplePage() {
	page := dataflow.Page{
		Name: "shop-operator",
		Controllers: []dataflow.Description{{
			Controller: "shop", FieldManager: "shop", Finalizer: "example.com/shop",
			Watches: []dataflow.Watch{
				{Type: "For", GVK: "example.com/v1/Shop", Source: "shop/controller.go:12"},
				{Type: "Owns", GVK: "/v1/Service", Source: "shop/controller.go:13"},
				{Type: "Watches", GVK: "/v1/Secret", Source: "shop/controller.go:14"},
			},
			Access: []dataflow.Access{
				{GVK: "/v1/Service", Cache: "typed", FetchRemoteState: []string{"read"}, Apply: []string{"create", "patch", "delete"}},
				{GVK: "/v1/Secret", Cache: "metadata", FetchRemoteState: []string{"read"}},
			},
			Rules: []rbacv1.PolicyRule{{APIGroups: []string{""}, Resources: []string{"secrets"}, Verbs: []string{"list", "watch"}}},
		}},
	}
	fmt.Print(page.Mermaid())
	for _, rule := range page.Rules() {
		fmt.Println(rule.APIGroups, rule.Resources, rule.Verbs)
	}
	// Output:
	// sequenceDiagram
	//     %% Dataflow of shop-operator
	//
	//     participant KubernetesAPI as Kubernetes API
	//     participant shop_operator as shop-operator
	//
	//     KubernetesAPI->>+shop_operator: Watch Shop (reconcile)
	//     shop_operator->>KubernetesAPI: Create/Update Service
	//     KubernetesAPI-->>+shop_operator: Watch Secret (informer)
	// [] [secrets] [list watch]
	// [events.k8s.io] [events] [create patch]
}
