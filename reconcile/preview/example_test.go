package preview_test

import (
	"fmt"

	"github.com/reconcilekit/reconcilekit/reconcile/preview"
)

func Example() {
	report := preview.Report{Owners: []preview.Owner{
		{
			Controller: "shop", Kind: "example.com/v1/Shop", Name: "market/corner",
			Changes: []preview.Change{{
				Object: "Deployment market/web", Verb: "update", Reason: "Differs", Restart: true,
				Fields: []preview.Field{{Path: ".spec.template.spec.containers[0].image", From: `"web:1"`, To: `"web:2"`}},
			}, {Object: "Service market/portal", Verb: "none", Reason: "Waiting", WaitsUntil: "the server is ready"}},
		},
		{Controller: "shop", Kind: "example.com/v1/Shop", Name: "market/kiosk"},
	}}
	fmt.Println("changes:", report.Changes())
	fmt.Print(report.Table())
	fmt.Print(report.Diff())
	// Output:
	// changes: true
	// OWNER               OBJECT                 VERB    REASON   FIELDS  NOTE
	// Shop market/corner  Deployment market/web  update  Differs  1       would restart
	// Shop market/corner  Service market/portal  none    Waiting  0       waits until the server is ready
	// Shop market/kiosk                          none
	// Shop market/corner (controller shop)
	//   update Deployment market/web (Differs, would restart)
	//     ~ .spec.template.spec.containers[0].image: "web:1" -> "web:2"
	//   * Service market/portal: waits until the server is ready
}
