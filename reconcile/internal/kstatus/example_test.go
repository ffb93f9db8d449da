package kstatus_test

import (
	"fmt"
	"time"

	"github.com/reconcilekit/reconcilekit/conditions"
	"github.com/reconcilekit/reconcilekit/health"
	"github.com/reconcilekit/reconcilekit/reconcile/internal/kstatus"
)

// An owner with a failed part is stalled, with the reason of Ready.
func Example() {
	manager := conditions.NewManager(nil, 1, time.Unix(0, 0))
	manager.MarkFalse(conditions.Ready, "QuotaExceeded", "no GPU is left")
	kstatus.Set(manager, []health.Component{{State: health.Failed}}, &health.Assessment{})
	stalled, _ := manager.Get("Stalled")
	fmt.Println(stalled.Status, stalled.Reason)
	// Output:
	// True QuotaExceeded
}
