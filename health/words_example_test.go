package health_test

import (
	"errors"
	"fmt"

	"github.com/reconcilekit/reconcilekit/health"
)

// A component derives its state, reason and message from its errors if they are not set.
func ExampleComponent() {
	database := health.Component{
		Name: "Database", Dependency: health.Upstream,
		Errors: []error{health.NewError(health.MissingUpstreamDependency, "SecretNotFound", `create the Secret "db"`, nil)},
	}
	fmt.Println(database.GetState(), database.GetReason(), database.GetMessage())
	// Output: Degraded SecretNotFound create the Secret "db"
}

// Joined errors count separately, each with its own category.
func ExampleComponent_Categorized() {
	refused := health.NewError(health.Auth, "TokenExpired", "renew the token", nil)
	c := health.Component{Errors: []error{errors.Join(refused, errors.New("boom"))}}
	for _, e := range c.Categorized() {
		fmt.Println(e.Category, e)
	}
	// Output:
	// Auth TokenExpired: renew the token
	// Unknown UnknownError: boom
}

// quotaError is an error type of a package that does not import health.
type quotaError struct{ namespace string }

func (e *quotaError) Error() string        { return "namespace " + e.namespace + " is full" }
func (*quotaError) HealthCategory() string { return "ResourceExhaustion" }
func (*quotaError) HealthReason() string   { return "NamespaceFull" }

// An error type with two additional methods determines its own category.
func ExampleClassified() {
	e := health.Categorize(fmt.Errorf("apply: %w", &quotaError{"team-a"}))
	fmt.Println(e.Category, e.Reason, e.Message)
	// Output: ResourceExhaustion NamespaceFull apply: namespace team-a is full
}

// The methods of a category return the effects of an error.
func ExampleCategory() {
	for _, c := range []health.Category{health.InvalidSpec, health.Infrastructure} {
		fmt.Println(c, c.State(), "| blocks", c.Blocks(), "| tried again", c.Retries())
	}
	// Output:
	// InvalidSpec Failed | blocks true | tried again false
	// Infrastructure Degraded | blocks true | tried again true
}

// Worse compares two states; an unknown state is as bad as Failed.
func ExampleWorse() {
	fmt.Println(health.Worse(health.Degraded, health.Pending), health.Worse(health.Ready, health.Ready), health.Worse("Fine", health.Degraded))
	// Output: true false true
}
