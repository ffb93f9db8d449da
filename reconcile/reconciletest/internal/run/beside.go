package run

import (
	"context"
)

// Beside runs passes in the middle of the one that is under way, from their beginning to their end: those of other owners and controllers
// that have a worker left.
func (i *Instance) Beside() {
	under := i.Passes
	for _, other := range i.Scheduler.Beside() {
		i.Passes++
		i.Wire.Enter(i.Passes)
		if err := i.Scheduler.Run(other); err != nil {
			i.hung = err
		}
	}
	i.Wire.Enter(under)
}

// beside lets the other instance have a pass, and reports whether it had one.
func (i *Instance) beside(ctx context.Context) (bool, error) {
	peer := i.peer
	if peer == nil || peer.Passes >= overlapPasses {
		return false, nil
	}
	if err := peer.View.Sync(); err != nil {
		return false, err
	}
	peer.Scheduler.Wake()
	next, ready := peer.Scheduler.Take()
	if !ready {
		return peer.View.Advance(), nil
	}
	if _, err := peer.pass(ctx, next); err != nil {
		return false, err
	}
	return true, i.View.Sync()
}
