package reconciletest

import (
	"context"
	"runtime"
)

// measured runs what is ready and returns the least allocations of a pass.
func (i *instance) measured(ctx context.Context) (uint64, error) {
	least := ^uint64(0)
	for {
		next, ready := i.scheduler.Take()
		if !ready {
			return least, nil
		}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		i.passes++
		err := i.scheduler.Run(next)
		runtime.ReadMemStats(&after)
		if err == nil {
			err = i.after(ctx)
		}
		if err != nil {
			return 0, err
		}
		least = min(least, after.Mallocs-before.Mallocs)
	}
}
