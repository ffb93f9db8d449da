package managedfields_test

import (
	"fmt"

	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/managedfields"
)

func Example() {
	set, err := managedfields.Parse([]byte(`{"f:spec":{"f:replicas":{}}}`))
	if err != nil {
		panic(err)
	}
	for _, text := range []string{"spec.replicas", "spec.paused"} {
		path, err := managedfields.ParsePath(text)
		if err != nil {
			panic(err)
		}
		fmt.Println(path, path.Owns(set))
	}
	// Output:
	// spec.replicas true
	// spec.paused false
}
