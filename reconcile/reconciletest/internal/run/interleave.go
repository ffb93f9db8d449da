package run

import (
	"context"
)

// Interleave runs complete passes in the middle of the current one: those of other owners and of controllers with a free worker.
func (i *Instance) Interleave() {
	under := i.Passes
	for _, other := range i.Scheduler.Interleave() {
		i.Passes++
		i.Wire.Enter(i.Passes)
		if err := i.Scheduler.Run(other); err != nil {
			i.hung = err
		}
	}
	i.Wire.Enter(under)
}

// interleave runs a pass of the other instance, and reports whether there was one.
func (i *Instance) interleave(ctx context.Context) (bool, error) {
	peer := i.peer
	if peer == nil || peer.Passes >= overlapPasses {
		return false, nil
	}
	if err := peer.View.Sync(); err != nil {
		return false, err
	}
	peer.Scheduler.MakeReady()
	next, ready := peer.Scheduler.Take()
	if !ready {
		return peer.View.Advance(), nil
	}
	if _, err := peer.pass(ctx, next); err != nil {
		return false, err
	}
	return true, i.View.Sync()
}
