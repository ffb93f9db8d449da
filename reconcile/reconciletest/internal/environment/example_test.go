package environment_test

import (
	"fmt"

	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/internal/environment"
	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/internal/requests"
)

func Example() {
	entries := environment.AuditEntries{
		{Request: requests.Request{Verb: "patch", Group: "apps", Resource: "deployments", Name: "shop"}, User: "operator", Code: 200},
		{Request: requests.Request{Verb: "get", Resource: "secrets", Name: "tls"}, User: "operator", Code: 403},
	}
	fmt.Println(entries.Where(environment.User("operator"), environment.Asked(requests.Verb("get"))))
	// Output: 1 get secrets tls by operator: 403
}
