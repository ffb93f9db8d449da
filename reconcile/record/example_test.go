package record_test

import (
	"fmt"
	"os"

	"github.com/reconcilekit/reconcilekit/reconcile"
	"github.com/reconcilekit/reconcilekit/reconcile/controller"
	"github.com/reconcilekit/reconcilekit/reconcile/record"
)

// The recorder goes into the Options of the builder, and tests replay with the package reconcile/reconciletest. Passes that change
// nothing are left out.
func Example() {
	dir, err := os.MkdirTemp("", "recordings")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)

	recorder, err := record.New(record.Options{Dir: dir, When: record.Changes})
	if err != nil {
		fmt.Println(err)
		return
	}
	options := controller.Options{Record: recorder}
	fmt.Println(options.Record != nil, record.Changes(reconcile.Report{}), record.Changes(reconcile.Report{StatusWritten: true}))
	// Output: true false true
}
