package schedule_test

import (
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/internal/schedule"
)

func Example() {
	clock := schedule.NewClock(time.Date(2026, time.January, 1, 0, 0, 0, 0, time.UTC))
	scheduler := schedule.New(clock)
	queue := scheduler.NewQueue("websites", 1)
	queue.AddAfter(reconcile.Request{NamespacedName: types.NamespacedName{Namespace: "default", Name: "shop"}}, time.Hour)

	_, ready := scheduler.Take()
	fmt.Println("ready:", ready)
	due, _ := scheduler.Due()
	clock.Set(due)
	scheduler.Wake()
	next, _ := scheduler.Take()
	fmt.Println("at", clock.Now().Format(time.TimeOnly), next.Request)
	// Output:
	// ready: false
	// at 01:00:00 default/shop
}
