package health_test

import (
	"errors"
	"fmt"
	"time"

	"github.com/reconcilekit/reconcilekit/conditions"
	"github.com/reconcilekit/reconcilekit/health"
)

// A reconciliation observes the components of the owner and derives conditions, one state and the next action.
func ExampleAssessor() {
	now := time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)
	m := conditions.NewManager(nil, 1, now)
	a := health.NewAssessor(m, health.Options{Now: now})

	server := health.Component{
		Name: "Server", Dependency: health.Downstream, Child: true,
		State: health.NotAvailable, Reason: "ReplicasUnavailable", Message: "0 of 1 replicas are available",
	}
	database := health.Component{
		Name: "Database", Dependency: health.Upstream,
		Errors: []error{health.NewError(health.MissingUpstreamDependency, "SecretNotFound", `create the Secret "db" with the key url`, nil)},
	}
	a.Observe(server, database)
	assessment := a.Summarize()

	for _, c := range m.Conditions() {
		fmt.Printf("%s=%s %s: %s\n", c.Type, c.Status, c.Reason, c.Message)
	}
	fmt.Println("state", assessment.State, "| retry", assessment.Retry, "| blocking", len(health.Blocking([]health.Component{server, database})))
	// Output:
	// Ready=False ReferenceNotFound: Referenced resource not found
	// ConfigValid=False ReferenceNotFound: Referenced resource not found
	// DatabaseReady=False SecretNotFound: create the Secret "db" with the key url
	// ServerReady=False ReplicasUnavailable: 0 of 1 replicas are available
	// state Failed | retry <nil> | blocking 1
}

// While a dependency is unreachable, conditions are unchanged during the grace period; the result requests a
// reconciliation at its end.
func ExampleOptions_grace() {
	now := time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)
	m := conditions.NewManager(nil, 1, now)
	a := health.NewAssessor(m, health.Options{})
	a.Observe(health.Component{Name: "Database", State: health.Ready, Reason: "Connected"})
	a.Summarize()

	m = conditions.NewManager(m.Conditions(), 1, now.Add(time.Minute))
	a = health.NewAssessor(m, health.Options{Grace: 30 * time.Second})
	down := health.NewError(health.Infrastructure, "Unreachable", "the database does not answer", nil)
	a.Observe(health.Component{Name: "Database", Dependency: health.Upstream, Errors: []error{down}})
	assessment := a.Summarize()

	database, _ := m.Get("DatabaseReady")
	fmt.Println(database.Status, database.Reason, "| again in", assessment.RequeueAfter, "| retry", assessment.Retry)
	// Output: True Connected | again in 30s | retry Unreachable: the database does not answer
}

// An error keeps its explicit category, whatever it wraps or is wrapped in.
func ExampleCategorize() {
	known := health.NewError(health.Auth, "TokenExpired", "renew the token", errors.New("401"))
	e := health.Categorize(fmt.Errorf("list models: %w", known))
	fmt.Println(e.Category, e.Reason)
	e = health.Categorize(errors.New("boom"))
	fmt.Println(e.Category, e.Reason, e.Message)
	// Output:
	// Auth TokenExpired
	// Unknown UnknownError boom
}

// A problem that an inspector finds in a child never blocks applying, because then no fix could reach the child.
func ExampleBlocking() {
	bad := health.NewError(health.InvalidSpec, "PodFailed", "exit code 1", nil)
	fmt.Println(len(health.Blocking([]health.Component{{Name: "Settings", Errors: []error{bad}}})))
	fmt.Println(len(health.Blocking([]health.Component{{Name: "Server", Child: true, Errors: []error{bad}}})))
	// Output:
	// 1
	// 0
}
