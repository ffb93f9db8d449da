package explain_test

import (
	"fmt"
	"time"

	"github.com/reconcilekit/reconcilekit/reconcile/explain"
)

func Example() {
	at := time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)
	shop := explain.Owner{
		Controller: "shop", Kind: "example.com/v1/Shop", Name: "market/corner", Found: true,
		Causes: []explain.Cause{{
			Subject: "Service market/portal", Category: "Conflict", Reason: "FieldsContested",
			Message:   "Service market/portal has fields of other managers",
			Contested: []explain.Contested{{Path: ".spec.ports", Manager: "painter"}},
			Retry:     at.Add(time.Minute),
		}},
		Last: &explain.Pass{
			At: at, Trigger: "update of Service market/portal by painter",
			Decisions: []explain.Decision{
				{Object: "ConfigMap market/settings", Verb: "none", Reason: "UpToDate", Outcome: "Unchanged"},
				{Object: "Service market/portal", Verb: "none", Reason: "Contested", Outcome: "Contested", Error: "fields of other managers"},
				{Object: "Deployment market/web", Verb: "none", Reason: "Waiting", Outcome: "Waiting", WaitsUntil: "the portal exists"},
			},
		},
		Reads: []explain.Read{{Kind: "/v1/Secret", What: "market/password"}},
		Next:  &explain.Next{At: at.Add(time.Minute), Why: "planned"},
	}
	fmt.Print(shop)
	// Output:
	// Shop market/corner (controller shop): not ready
	// ├─ because: Service market/portal has fields of other managers (Conflict, FieldsContested)
	// │  ├─ field .spec.ports belongs to manager "painter"
	// │  └─ checked again at 2026-05-01T12:01:00Z
	// ├─ last pass at 2026-05-01T12:00:00Z
	// │  ├─ triggered by update of Service market/portal by painter
	// │  ├─ ConfigMap market/settings: nothing to do (UpToDate)
	// │  ├─ Service market/portal: nothing to do (Contested): Contested: fields of other managers
	// │  └─ Deployment market/web: waits until the portal exists
	// ├─ read: an event of any of these triggers a pass
	// │  └─ /v1/Secret market/password
	// └─ next pass: 2026-05-01T12:01:00Z (planned)
}
