package run

import (
	"context"

	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/internal/transport"
)

const (
	overlapLag    = 1   // passes by which the cache of the other instance lags
	overlapPasses = 200 // of the other instance
)

// startPeer starts a second instance: during a hand-over two instances may believe that they lead.
func (r *Run) startPeer(ctx context.Context, wanted bool) error {
	if !wanted {
		return nil
	}
	var err error
	r.Last.peer, err = Start(ctx, r.Cluster, Variation{Lag: map[string]int{"": overlapLag}}, &r.Events)
	return err
}

// stopFirst ends the other instance and runs a pass of every owner.
func (r *Run) stopFirst(ctx context.Context) error {
	peer := r.Last.peer
	r.Last.peer = nil
	r.Calls = append(r.Calls, peer.Wire.Calls()...)
	r.Passes += peer.Passes
	if r.Panicked == "" {
		r.Panicked = peer.Log.Panicked()
	}
	peer.End()
	r.Last.Scheduler.TriggerAll()
	return r.Last.Settle(ctx)
}

// startAgain starts another instance after a crash, with the remaining faults. With again it also crashes at its first write.
func (r *Run) startAgain(ctx context.Context, again bool) error {
	first := Variation{Inject: r.Last.Wire.Armed()}
	if again {
		first.Inject = []*transport.Injection{{Writes: true, Fault: transport.FaultCrash}}
	}
	if err := r.restart(ctx, first); err != nil {
		return err
	}
	err := r.Last.Settle(ctx)
	if err != nil || !r.Last.dead() {
		return err
	}
	return r.startAgain(ctx, false)
}
