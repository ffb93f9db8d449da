package finding_test

import (
	"fmt"

	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/internal/finding"
)

func Example() {
	found := []finding.Finding{
		{Case: "A: error of create configmaps default/web#1", Check: finding.CheckState, Message: "spec.replicas: want 3, got 2"},
		{Case: "no fault, A-B", Check: finding.CheckState, Message: "spec.replicas: want 3, got 1"},
		{Case: "A: events doubled", Check: finding.CheckRest, Message: "no rest after 200 passes"},
	}
	for _, group := range finding.ByCause(found) {
		fmt.Println(len(group), group[0])
	}
	// Output:
	// 2 [state] no fault, A-B: spec.replicas: want 3, got 1
	// 1 [rest] A: events doubled: no rest after 200 passes
}
