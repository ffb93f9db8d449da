package run

import (
	"context"
	"runtime"
	"time"
)

// Later advances the clock. Scheduled passes become ready.
func (i *Instance) Later(after time.Duration) {
	i.Cluster.Clock.Set(i.Cluster.Clock.Now().Add(after))
	i.Scheduler.MakeReady()
}

// Measured runs the ready passes and returns the minimum number of allocations of a pass.
func (i *Instance) Measured(ctx context.Context) (uint64, error) {
	least := ^uint64(0)
	for {
		next, ready := i.Scheduler.Take()
		if !ready {
			return least, nil
		}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		i.Passes++
		err := i.Scheduler.Run(next)
		runtime.ReadMemStats(&after)
		if err == nil {
			err = i.After(ctx)
		}
		if err != nil {
			return 0, err
		}
		least = min(least, after.Mallocs-before.Mallocs)
	}
}
