package difference_test

import (
	"fmt"

	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/internal/difference"
	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/internal/world"
)

func state(password string, replicas int64) world.State {
	return world.State{
		"Secret default/web":     {"data": map[string]any{"password": password}},
		"Deployment default/web": {"spec": map[string]any{"replicas": replicas}},
	}
}

func Example() {
	drawn := difference.Drawn{}
	drawn.Add(state("c2VjcmV0", 2), state("b3RoZXI=", 2)) // the same story twice
	want, got := state("c2VjcmV0", 2), state("dGhpcmQ=", 1)
	drawn.Mask(want)
	drawn.Mask(got)
	fmt.Println(difference.Print(difference.Between(want, got)))
	// Output:
	// Deployment default/web: spec.replicas: want 2, got 1
}
