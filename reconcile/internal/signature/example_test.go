package signature_test

import (
	"fmt"
	"reflect"

	"github.com/reconcilekit/reconcilekit/reconcile/internal/signature"
)

type planner struct{}

func (planner) PlanResource(int) {}

// A method whose name is nearly that of a phase is reported.
func Example() {
	expected := map[string]reflect.Type{"PlanResources": reflect.TypeFor[func(int)]()}
	fmt.Println(signature.Check(reflect.TypeFor[planner](), expected)[0])
	// Output:
	// method PlanResource of signature_test.planner looks like the phase PlanResources under another name: have PlanResource(int), want PlanResources(int); rename it
}
