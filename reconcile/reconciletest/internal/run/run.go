package run

import (
	"context"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/internal/cluster"
	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/internal/description"
	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/internal/transport"
	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/internal/view"
)

// Spec describes one run: steps, with a variation during one of them.
type Spec struct {
	Steps []description.Step
	// At is the index of the step with the variation; earlier steps run normally.
	At      int
	Variant Variation
	// Unseen executes the step after the crash before a new instance starts.
	Unseen bool
	// Listen records the operator's log.
	Listen bool
}

// Run is the result of a spec.
type Run struct {
	Cluster       *cluster.Cluster
	Last          *Instance        // the last instance
	Calls         []transport.Call // of the step with the variation and of all later steps, by all instances
	Events        eventLog
	Passes        int
	Err           error
	FaultHappened bool // the injected fault has happened

	Panicked string // the first panic of a pass

	Refused bool     // a permanent rejection has happened
	Claims  []string // owners that reported ready before it ended

	// Before is the content of the fake API server before the step with the variation; nil before the first step.
	Before map[schema.GroupVersionKind]cluster.Snapshot
}

// Execute executes a spec. The caller ends the last instance.
func Execute(ctx context.Context, system description.Prepared, p Spec, namespace string) *Run {
	r := &Run{}
	if r.Err = r.begin(ctx, system, &p, namespace); r.Err != nil {
		return r
	}
	for n := 0; n < len(p.Steps) && r.Err == nil; n++ {
		r.Cluster.Until = r.Cluster.Began.Add(time.Duration(n+1) * system.Horizon)
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

// begin creates the cluster and starts the first instance.
func (r *Run) begin(ctx context.Context, system description.Prepared, p *Spec, namespace string) (err error) {
	if r.Cluster, err = cluster.New(ctx, system, namespace); err != nil {
		return err
	}
	r.Cluster.Reversed, r.Cluster.Off, r.Cluster.Listen = p.Variant.Reversed, p.Steps[0] == description.StepOff, p.Listen
	variant := Variation{}
	if p.At == 0 {
		variant = p.Variant
	}
	if r.Last, err = Start(ctx, r.Cluster, variant, &r.Events); err != nil {
		return err
	}
	r.Cluster.Slow = p.Variant.Slow
	r.Cluster.Refusing = slices.ContainsFunc(p.Variant.Inject, (*transport.Injection).Lasts)
	return nil
}

// step executes one step and runs the operator.
func (r *Run) step(ctx context.Context, p *Spec, n int) (err error) {
	if n == p.At && n > 0 && (r.Cluster.Fake != nil || p.Variant.Behind) {
		if r.Before, err = r.Cluster.All(); err != nil {
			return err
		}
	}
	if n == p.At && n > 0 {
		r.vary(p.Variant)
	}
	if err = r.enter(ctx, p, n); err != nil {
		return err
	}
	if err = r.startPeer(ctx, n == p.At && p.Variant.Overlap); err != nil {
		return err
	}
	if err = r.Last.Settle(ctx); err == nil && r.Last.peer != nil {
		err = r.stopFirst(ctx)
	}
	return err
}

// crashed starts another instance, after the next step if the spec requires it. It returns the index of the last step.
func (r *Run) crashed(ctx context.Context, p *Spec, n int) (last int, err error) {
	if p.Unseen && n+1 < len(p.Steps) {
		n++
		r.Cluster.Off = p.Steps[n] == description.StepOff
		if err := r.Cluster.Perform(ctx, p.Steps[n], false); err != nil {
			return n, err
		}
	}
	return n, r.startAgain(ctx, p.Variant.Again)
}

// finish executes the part of a variation after the last step.
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
		if err := r.endRefusal(ctx); err != nil {
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

// passesBehind is the number of passes after a restart that see the old state of one kind.
const passesBehind = 2

// vary begins the step with the variation; earlier requests are dropped.
func (r *Run) vary(v Variation) {
	i := r.Last
	r.Calls = nil // also those of earlier instances
	i.Wire.Forget()
	i.Wire.Arm(v.Inject...)
	i.View.Disturb(v.Shake, v.Lag)
	i.eager = v.Eager
}

// held reports whether a rejection still exists, or may have been taken as permanent: an event must then trigger the operator. After
// several consecutive rejections the operator must retry by itself.
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

// endRefusal ends a permanent rejection, records the owners that reported ready meanwhile, and runs a pass of every owner.
func (r *Run) endRefusal(ctx context.Context) error {
	i := r.Last
	i.Wire.Arm()
	r.Cluster.Refusing, r.Refused = false, i.Wire.HasHappened()
	var err error
	if r.Claims, err = r.Cluster.Claims(); err != nil {
		return err
	}
	i.Scheduler.TriggerAll()
	return i.Settle(ctx)
}

// Rename replaces random names in the requests by their canonical ones.
func (r *Run) Rename() {
	transport.Rename(r.Calls, r.Cluster.ShownAs)
}

// gather adds the results of an instance.
func (r *Run) gather() {
	if r.Last == nil {
		return
	}
	r.Calls = append(r.Calls, r.Last.Wire.Calls()...)
	r.Passes += r.Last.Passes
	r.FaultHappened = r.FaultHappened || r.Last.Wire.HasHappened()
	if r.Panicked == "" {
		r.Panicked = r.Last.Log.Panicked()
	}
}

// restart ends the instance and starts another one.
func (r *Run) restart(ctx context.Context, variant Variation) error {
	r.gather()
	r.Last.End()
	next, err := Start(ctx, r.Cluster, variant, &r.Events)
	if err == nil {
		r.Last = next
	}
	return err
}

// enter executes a step. A step that disables or enables the operator starts another instance.
func (r *Run) enter(ctx context.Context, p *Spec, n int) error {
	off := p.Steps[n] == description.StepOff
	if err := r.Cluster.Perform(ctx, p.Steps[n], n == 0); err != nil || off == r.Cluster.Off {
		return err
	}
	r.Cluster.Off = off
	if n == p.At {
		return r.restart(ctx, p.Variant)
	}
	return r.restart(ctx, Variation{})
}
