package announcement_test

import (
	"fmt"
	"time"

	"github.com/reconcilekit/reconcilekit/conditions"
	"github.com/reconcilekit/reconcilekit/reconcile/internal/announcement"
)

// A part that is well from its beginning is no news, the summary is.
func Example() {
	manager := conditions.NewManager(nil, 1, time.Unix(0, 0))
	manager.MarkTrue("CacheReady", "Running", "")
	manager.MarkTrue(conditions.Ready, "Ready", "")
	for _, t := range announcement.Newsworthy(manager.Transitions()) {
		fmt.Println(t.After.Type, t.After.Status)
	}
	// Output:
	// Ready True
}
