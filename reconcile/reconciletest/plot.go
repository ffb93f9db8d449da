package reconciletest

import (
	"context"
	"time"
)

// plot is the story of one run: steps, with a variation during one of them.
type plot struct {
	steps []step
	// at is the index of the step that the variation is about; the ones before it run as they should.
	at      int
	variant variation
	// unseen lets the step after the crash happen before a new instance starts.
	unseen bool
	// listen keeps what the operator logs.
	listen bool
}

// run is what became of a plot.
type run struct {
	world  *world
	last   *instance // the instance that was there at the end
	calls  []call    // of the step that the variation is about and of all after it, by all instances
	events eventLog
	passes int
	err    error
	struck bool // the injected fault has happened

	panicked string // the first panic of a pass

	refused bool     // a refusal that lasts has happened
	claims  []string // the owners that called themselves ready before it was lifted
}

// play runs a plot to its end. The caller ends the last instance.
func play(ctx context.Context, system prepared, p plot, namespace string) *run {
	r := &run{}
	if r.world, r.err = newWorld(ctx, system, namespace); r.err != nil {
		return r
	}
	r.world.reversed, r.world.off, r.world.listen = p.variant.reversed, p.steps[0] == stepOff, p.listen
	variant := variation{}
	if p.at == 0 {
		variant = p.variant
	}
	if r.last, r.err = start(ctx, r.world, variant, &r.events); r.err != nil {
		return r
	}
	r.world.slow = p.variant.slow
	r.world.refusing = p.variant.inject != nil && p.variant.inject.lasting == forever
	for n := 0; n < len(p.steps) && r.err == nil; n++ {
		r.world.until = r.world.began.Add(time.Duration(n+1) * system.Horizon)
		if n == p.at && p.variant.behind {
			if p.variant.past, r.err = r.world.all(); r.err != nil {
				return r
			}
		}
		if n == p.at && n > 0 {
			r.vary(p.variant)
		}
		if r.err = r.enter(ctx, p, n); r.err != nil {
			return r
		}
		if r.err = r.beside(ctx, n == p.at && p.variant.overlap); r.err != nil {
			return r
		}
		if r.err = r.last.settle(ctx); r.err == nil && r.last.peer != nil {
			r.err = r.handOver(ctx)
		}
		if r.err != nil || !r.last.dead() {
			continue
		}
		if p.unseen && n+1 < len(p.steps) {
			n++
			r.world.off = p.steps[n] == stepOff
			if r.err = r.world.perform(ctx, p.steps[n], false); r.err != nil {
				return r
			}
		}
		if r.err = r.revive(ctx, p.variant.again); r.err != nil {
			return r
		}
	}
	if r.err == nil && p.variant.behind {
		if r.err = r.restart(ctx, variation{past: p.variant.past}); r.err == nil {
			r.err = r.last.settle(ctx)
		}
	}
	if r.err == nil && r.last.wire.refusing() {
		r.err = r.lift(ctx)
	}
	if r.err == nil && p.variant.resync {
		r.last.view.disturb(nil, p.variant.lag)
		r.last.view.resync()
		r.err = r.last.settle(ctx)
	}
	r.gather()
	return r
}

// vary begins the step that the variation is about; requests before it are not of interest.
func (r *run) vary(v variation) {
	i := r.last
	i.wire.forget()
	i.wire.arm(v.inject)
	i.view.disturb(v.shake, v.lag)
}

// lift ends a refusal that lasts, notes who called itself ready meanwhile, and lets every owner have a pass.
func (r *run) lift(ctx context.Context) error {
	i := r.last
	i.wire.arm(nil)
	r.world.refusing, r.refused = false, i.wire.hasStruck()
	var err error
	if r.claims, err = r.world.claims(); err != nil {
		return err
	}
	i.scheduler.WakeAll()
	return i.settle(ctx)
}

// gather takes over what an instance has done.
func (r *run) gather() {
	if r.last == nil {
		return
	}
	r.calls = append(r.calls, r.last.wire.calls()...)
	r.passes += r.last.passes
	r.struck = r.struck || r.last.wire.hasStruck()
	if r.panicked == "" {
		r.panicked = r.last.log.Panicked()
	}
}

// restart ends the instance and starts another one.
func (r *run) restart(ctx context.Context, variant variation) error {
	r.gather()
	r.last.end()
	next, err := start(ctx, r.world, variant, &r.events)
	if err == nil {
		r.last = next
	}
	return err
}

// enter carries out a step. One that switches the operator off or on starts another instance.
func (r *run) enter(ctx context.Context, p plot, n int) error {
	off := p.steps[n] == stepOff
	if err := r.world.perform(ctx, p.steps[n], n == 0); err != nil || off == r.world.off {
		return err
	}
	r.world.off = off
	if n == p.at {
		return r.restart(ctx, p.variant)
	}
	return r.restart(ctx, variation{})
}
