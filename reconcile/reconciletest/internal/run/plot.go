package run

import (
	"context"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/internal/description"
	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/internal/transport"
	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/internal/view"
	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/internal/world"
)

// Plot is the story of one run: steps, with a variation during one of them.
type Plot struct {
	Steps []description.Step
	// At is the index of the step that the variation is about; the ones before it run as they should.
	At      int
	Variant Variation
	// Unseen lets the step after the crash happen before a new instance starts.
	Unseen bool
	// Listen keeps what the operator logs.
	Listen bool
}

// Run is what became of a plot.
type Run struct {
	World  *world.World
	Last   *Instance        // the instance that was there at the end
	Calls  []transport.Call // of the step that the variation is about and of all after it, by all instances
	Events eventLog
	Passes int
	Err    error
	Struck bool // the injected fault has happened

	Panicked string // the first panic of a pass

	Refused bool     // a refusal that lasts has happened
	Claims  []string // the owners that called themselves ready before it was lifted

	// Before is the fake world as it was before the step that the variation is about; nil before the first step.
	Before map[schema.GroupVersionKind]world.Snapshot
}

// Play runs a plot to its end. The caller ends the last instance.
func Play(ctx context.Context, system description.Prepared, p Plot, namespace string) *Run {
	r := &Run{}
	if r.Err = r.begin(ctx, system, &p, namespace); r.Err != nil {
		return r
	}
	for n := 0; n < len(p.Steps) && r.Err == nil; n++ {
		r.World.Until = r.World.Began.Add(time.Duration(n+1) * system.Horizon)
		if r.Err = r.step(ctx, &p, n); r.Err == nil && r.Last.dead() {
			n, r.Err = r.crashed(ctx, &p, n)
		}
	}
	if r.Err == nil {
		r.Err = r.finish(ctx, &p.Variant)
	}
	r.gather()
	return r
}

// begin makes the world and starts the first instance.
func (r *Run) begin(ctx context.Context, system description.Prepared, p *Plot, namespace string) (err error) {
	if r.World, err = world.New(ctx, system, namespace); err != nil {
		return err
	}
	r.World.Reversed, r.World.Off, r.World.Listen = p.Variant.Reversed, p.Steps[0] == description.StepOff, p.Listen
	variant := Variation{}
	if p.At == 0 {
		variant = p.Variant
	}
	if r.Last, err = Start(ctx, r.World, variant, &r.Events); err != nil {
		return err
	}
	r.World.Slow = p.Variant.Slow
	r.World.Refusing = slices.ContainsFunc(p.Variant.Inject, (*transport.Injection).Lasts)
	return nil
}

// step lets one step happen and the operator answer.
func (r *Run) step(ctx context.Context, p *Plot, n int) (err error) {
	if n == p.At && n > 0 && (r.World.Fake != nil || p.Variant.Behind) {
		if r.Before, err = r.World.All(); err != nil {
			return err
		}
	}
	if n == p.At && n > 0 {
		r.vary(p.Variant)
	}
	if err = r.enter(ctx, p, n); err != nil {
		return err
	}
	if err = r.beside(ctx, n == p.At && p.Variant.Overlap); err != nil {
		return err
	}
	if err = r.Last.Settle(ctx); err == nil && r.Last.peer != nil {
		err = r.handOver(ctx)
	}
	return err
}

// crashed starts another instance, after the next step if nobody is there to see that one. It returns the index of the last step.
func (r *Run) crashed(ctx context.Context, p *Plot, n int) (last int, err error) {
	if p.Unseen && n+1 < len(p.Steps) {
		n++
		r.World.Off = p.Steps[n] == description.StepOff
		if err := r.World.Perform(ctx, p.Steps[n], false); err != nil {
			return n, err
		}
	}
	return n, r.revive(ctx, p.Variant.Again)
}

// finish lets happen what a variation has after the last step.
func (r *Run) finish(ctx context.Context, v *Variation) error {
	if v.Behind {
		past := &view.Past{State: r.Before, Kind: v.Alone, Passes: 1}
		if v.Alone != "" {
			past.Passes = passesBehind
		}
		if err := r.restart(ctx, Variation{past: past}); err != nil {
			return err
		}
		if err := r.Last.Settle(ctx); err != nil {
			return err
		}
	}
	if r.held() {
		if err := r.lift(ctx); err != nil {
			return err
		}
	}
	if v.Resync {
		r.Last.View.Disturb(nil, v.Lag)
		r.Last.View.Resync()
		return r.Last.Settle(ctx)
	}
	return nil
}

// passesBehind is how many passes after a restart see one kind as it was.
const passesBehind = 2

// vary begins the step that the variation is about; requests before it are not of interest.
func (r *Run) vary(v Variation) {
	i := r.Last
	r.Calls = nil // also those of instances before this one
	i.Wire.Forget()
	i.Wire.Arm(v.Inject...)
	i.View.Disturb(v.Shake, v.Lag)
	i.eager = v.Eager
}

// held reports whether a refusal is still there, or may have been taken for the last word: somebody has to wake the operator then. After
// some refusals in a row it must come back by itself, if late.
func (r *Run) held() bool {
	if r.Last.Wire.Refusing() {
		return true
	}
	by, refused := r.Last.Wire.Refused()
	if !refused {
		return false
	}
	_, planned := r.Last.Scheduler.Due()
	return planned || transport.Final(by)
}

// lift ends a refusal that lasts, notes who called itself ready meanwhile, and lets every owner have a pass.
func (r *Run) lift(ctx context.Context) error {
	i := r.Last
	i.Wire.Arm()
	r.World.Refusing, r.Refused = false, i.Wire.HasStruck()
	var err error
	if r.Claims, err = r.World.Claims(); err != nil {
		return err
	}
	i.Scheduler.WakeAll()
	return i.Settle(ctx)
}

// Rename puts what stands for names that were drawn into the requests, once they are known.
func (r *Run) Rename() {
	transport.Rename(r.Calls, r.World.ShownAs)
}

// gather takes over what an instance has done.
func (r *Run) gather() {
	if r.Last == nil {
		return
	}
	r.Calls = append(r.Calls, r.Last.Wire.Calls()...)
	r.Passes += r.Last.Passes
	r.Struck = r.Struck || r.Last.Wire.HasStruck()
	if r.Panicked == "" {
		r.Panicked = r.Last.Log.Panicked()
	}
}

// restart ends the instance and starts another one.
func (r *Run) restart(ctx context.Context, variant Variation) error {
	r.gather()
	r.Last.End()
	next, err := Start(ctx, r.World, variant, &r.Events)
	if err == nil {
		r.Last = next
	}
	return err
}

// enter carries out a step. One that switches the operator off or on starts another instance.
func (r *Run) enter(ctx context.Context, p *Plot, n int) error {
	off := p.Steps[n] == description.StepOff
	if err := r.World.Perform(ctx, p.Steps[n], n == 0); err != nil || off == r.World.Off {
		return err
	}
	r.World.Off = off
	if n == p.At {
		return r.restart(ctx, p.Variant)
	}
	return r.restart(ctx, Variation{})
}
