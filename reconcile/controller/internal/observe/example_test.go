package observe_test

import (
	"errors"
	"fmt"

	"github.com/reconcilekit/reconcilekit/reconcile/controller/internal/observe"
)

func ExampleListFailures() {
	var failures observe.ListFailures
	failures.Note("*v1.Secret", errors.New("secrets is forbidden"))
	failures.Note("*v1.Node", errors.New("nodes is forbidden"))
	failures.Note("*v1.Secret", errors.New("secrets is still forbidden"))
	fmt.Println(failures.Last())
	// Output:
	// nodes is forbidden
	// secrets is still forbidden
}
