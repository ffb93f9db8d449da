package faults_test

import (
	"fmt"

	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/internal/description"
	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/internal/faults"
	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/internal/requests"
	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/internal/story"
	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/internal/transport"
)

func Example() {
	told := &story.Story{Name: "A", Steps: []description.Step{description.StepA}, Calls: []transport.Call{
		{Request: requests.Request{Verb: "get", Resource: "configmaps", Namespace: "default", Name: "web"}},
	}}
	draw := faults.Draw{System: &description.Prepared{}}
	for _, c := range draw.Cases(told)[:3] {
		fmt.Println(c.Name)
	}
	fmt.Println(draw.Calls, "call")
	// Output:
	// A: error of get configmaps default/web#0
	// A: caches 1 passes behind
	// A: caches 2 passes behind
	// 1 call
}
