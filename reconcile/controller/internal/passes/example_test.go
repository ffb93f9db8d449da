package passes_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/workqueue"
	ctrl "sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/reconcilekit/reconcilekit/reconcile/controller/internal/passes"
)

// The requeue of a terminal error goes to the queue.
func ExampleLater() {
	queue := workqueue.NewTypedRateLimitingQueue(workqueue.DefaultTypedControllerRateLimiter[ctrl.Request]())
	defer queue.ShutDown()
	var later passes.Later
	if err := later.Start(context.Background(), queue); err != nil {
		fmt.Println(err)
		return
	}
	request := ctrl.Request{NamespacedName: types.NamespacedName{Namespace: "shop", Name: "web"}}
	result, err := later.Keep(request)(ctrl.Result{RequeueAfter: time.Nanosecond}, ctrl.TerminalError(errors.New("no such image")))
	fmt.Println(result.RequeueAfter, err)
	again, _ := queue.Get()
	fmt.Println(again)
	// Output:
	// 0s terminal error: no such image
	// shop/web
}
