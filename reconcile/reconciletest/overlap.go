package reconciletest

import "context"

const (
	overlapLag    = 1   // passes that the cache of the other instance is behind
	overlapPasses = 200 // of the other instance
)

// beside starts another instance beside the one that is there: at a hand-over two of them may believe that they lead.
func (r *run) beside(ctx context.Context, wanted bool) error {
	if !wanted {
		return nil
	}
	var err error
	r.last.peer, err = start(ctx, r.world, variation{lag: map[string]int{"": overlapLag}}, &r.events)
	return err
}

// handOver ends the other instance and lets every owner have a pass.
func (r *run) handOver(ctx context.Context) error {
	peer := r.last.peer
	r.last.peer = nil
	r.calls = append(r.calls, peer.wire.calls()...)
	r.passes += peer.passes
	if r.panicked == "" {
		r.panicked = peer.log.Panicked()
	}
	peer.end()
	r.last.scheduler.WakeAll()
	return r.last.settle(ctx)
}

// beside lets the other instance have a pass, and reports whether it had one.
func (i *instance) beside(ctx context.Context) (bool, error) {
	peer := i.peer
	if peer == nil || peer.passes >= overlapPasses {
		return false, nil
	}
	if err := peer.view.sync(); err != nil {
		return false, err
	}
	peer.scheduler.Wake()
	next, ready := peer.scheduler.Take()
	if !ready {
		return peer.view.advance(), nil
	}
	if _, err := peer.pass(ctx, next); err != nil {
		return false, err
	}
	return true, i.view.sync()
}

// revive starts another instance after a crash. With again set that one crashes with its first write, too.
func (r *run) revive(ctx context.Context, again bool) error {
	first := variation{}
	if again {
		first.inject = &injection{writes: true, fault: faultCrash}
	}
	if err := r.restart(ctx, first); err != nil {
		return err
	}
	err := r.last.settle(ctx)
	if err != nil || !r.last.dead() {
		return err
	}
	return r.revive(ctx, false)
}
