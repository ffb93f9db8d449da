package controller

import (
	"sigs.k8s.io/controller-runtime/pkg/manager"
)

// defaultConcurrency is how many owners are reconciled at a time where nobody says: a pass that waits for an answer, or that takes
// its whole deadline, leaves the other owners most of the workers.
const defaultConcurrency = 4

// concurrency is the number of workers: what the options of the controller say, then what the manager was told about the kind of the
// owners, then about all controllers. A singleton has one owner, of which two passes never run at a time.
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
