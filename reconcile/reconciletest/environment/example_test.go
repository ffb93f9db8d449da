package environment_test

import (
	"fmt"
	"net/http"

	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/environment"
	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/requests"
)

// In a test the entries come from the AuditLog of an Environment.
func ExampleAuditEntries_Where() {
	entries := environment.AuditEntries{
		{
			Request: requests.Request{Verb: "create", Group: "events.k8s.io", Resource: "events", Namespace: "shop"},
			User:    "system:serviceaccount:shop:operator", Code: http.StatusForbidden,
		},
		{
			Request: requests.Request{Verb: "list", Resource: "pods"},
			User:    "system:apiserver", Code: http.StatusOK,
		},
	}

	fmt.Println(entries.Where(
		environment.User("system:serviceaccount:shop:operator"),
		environment.Asked(requests.Verb("create"), requests.Resource("events.k8s.io", "events")),
	))
	// Output:
	// 1 create events.k8s.io/events shop by system:serviceaccount:shop:operator: 403
}
