package passlog_test

import (
	"errors"
	"fmt"

	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/internal/passlog"
)

func Example() {
	log := passlog.New(true)
	log.Logger().WithValues("website", "default/shop").Info("created")
	log.Logger().Error(errors.New("no backup is configured"), "Reconciler error")
	fmt.Println(log.All())
	fmt.Println(log.LastError())
	// Output:
	// [created [website default/shop] [] Reconciler error: no backup is configured]
	// no backup is configured
}
