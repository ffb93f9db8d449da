package controller

import (
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	ctrl "sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/reconcilekit/reconcilekit/reconcile/controller/internal/queue"
)

// defaultConcurrency is the default number of owners that are reconciled concurrently. A reconciliation that uses its full
// deadline leaves most of the workers to the other owners.
const defaultConcurrency = 4

// concurrency returns the number of workers: from the options of the controller, then from the manager's options for the
// owners' kind, then from those for all controllers. A singleton has one owner and needs one worker.
func (c *Controller) concurrency(mgr manager.Manager, kind string) int {
	told := mgr.GetControllerOptions()
	switch {
	case c.store != nil && c.store.Single:
		return 1
	case c.options.Concurrency > 0:
		return c.options.Concurrency
	case told.GroupKindConcurrency[kind] > 0:
		return told.GroupKindConcurrency[kind]
	case told.MaxConcurrentReconciles > 0:
		return told.MaxConcurrentReconciles
	default:
		return defaultConcurrency
	}
}

// newQueue returns the constructor of the queue; nil, which is controller-runtime's default, for a manager without priority queues.
func newQueue(mgr manager.Manager) func(string, workqueue.TypedRateLimiter[ctrl.Request]) workqueue.TypedRateLimitingInterface[ctrl.Request] {
	if prioritized := mgr.GetControllerOptions().UsePriorityQueue; prioritized != nil && !*prioritized {
		return nil
	}
	return queue.New
}
