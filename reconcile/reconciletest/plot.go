package reconciletest

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/internal/objects"
)

// step is what happens to the owners, or the inputs of a singleton, from outside.
type step string

const (
	stepA      step = "A"      // created with their spec, or changed back to it
	stepB      step = "B"      // created with, or changed to, what System.Change makes of it
	stepLess   step = "less"   // as in A, but without the first owner: never created, or deleted
	stepDelete step = "delete" // deleted
	stepOff    step = "off"    // as in A, with the operator switched off: see Singleton
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
func play(ctx context.Context, system System, p plot, namespace string) *run {
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
	if r.err == nil && r.last.wire.inject != nil && r.last.wire.inject.lasting != 0 {
		r.err = r.lift(ctx)
	}
	if r.err == nil && p.variant.resync {
		r.last.view.shake = nil
		r.last.view.resync()
		r.err = r.last.settle(ctx)
	}
	r.gather()
	return r
}

// vary begins the step that the variation is about; requests before it are not of interest.
func (r *run) vary(v variation) {
	i := r.last
	i.wire.mu.Lock()
	i.wire.sent, i.wire.counts = nil, map[string]int{}
	i.wire.inject = v.inject
	i.wire.mu.Unlock()
	i.view.mu.Lock()
	i.view.shake, i.view.lag = v.shake, lagOf(v.lag)
	i.view.mu.Unlock()
}

// lift ends a refusal that lasts, notes who called itself ready meanwhile, and lets every owner have a pass.
func (r *run) lift(ctx context.Context) error {
	i := r.last
	i.wire.mu.Lock()
	i.wire.inject, r.world.refusing = nil, false
	r.refused = i.wire.struck
	i.wire.mu.Unlock()
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
	r.struck = r.struck || r.last.wire.struck
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

// perform carries out a step from outside.
func (w *world) perform(ctx context.Context, s step, first bool) error {
	for n, owner := range w.system.subjects() {
		of := s
		switch {
		case s == stepLess && n == w.system.leaves && first:
			continue
		case s == stepLess && n == w.system.leaves:
			of = stepDelete
		case s == stepLess, s == stepOff:
			of = stepA
		}
		if err := w.performOn(ctx, owner, of, first); err != nil {
			return fmt.Errorf("step %s: %w", s, err)
		}
	}
	return nil
}

func (w *world) performOn(ctx context.Context, owner client.Object, s step, first bool) error {
	wanted := owner.DeepCopyObject().(client.Object) //nolint:forcetypeassert // a deep copy has the type of its original
	if _, err := w.place(wanted); err != nil {
		return err
	}
	if s == stepB {
		w.system.Change(wanted)
	}
	if first && s == stepDelete {
		return nil
	}
	if first {
		return w.add(ctx, wanted)
	}
	if s == stepDelete {
		return client.IgnoreNotFound(w.client.Delete(ctx, wanted))
	}
	live := owner.DeepCopyObject().(client.Object) //nolint:forcetypeassert // as above
	if err := w.client.Get(ctx, client.ObjectKeyFromObject(wanted), live); apierrors.IsNotFound(err) {
		return w.add(ctx, wanted) // an earlier step was about less owners
	} else if err != nil {
		return err
	}
	gvk, err := w.place(live)
	if err != nil {
		return err
	}
	stored, err := objects.ToUnstructured(live, gvk)
	if err != nil {
		return err
	}
	target, err := objects.ToUnstructured(wanted, gvk)
	if err != nil {
		return err
	}
	// Everything but metadata and status is what the user has asked for.
	for field := range stored.Object {
		if !slices.Contains([]string{"metadata", "status", "apiVersion", "kind"}, field) {
			delete(stored.Object, field)
		}
	}
	for field, value := range target.Object {
		if field != "metadata" && field != "status" {
			stored.Object[field] = value
		}
	}
	declared, err := objects.ToUnstructured(owner, gvk)
	if err != nil {
		return err
	}
	changed := owner.DeepCopyObject().(client.Object) //nolint:forcetypeassert // as above
	if w.system.Change != nil {
		w.system.Change(changed)
	}
	other, err := objects.ToUnstructured(changed, gvk)
	if err != nil {
		return err
	}
	stored.SetLabels(redeclared(stored.GetLabels(), target.GetLabels(), declared.GetLabels(), other.GetLabels()))
	stored.SetAnnotations(redeclared(stored.GetAnnotations(), target.GetAnnotations(), declared.GetAnnotations(), other.GetAnnotations()))
	return w.client.Update(ctx, stored)
}

// redeclared are the labels or annotations of an object after its user has declared others: what no spec speaks of stays.
func redeclared(stored, target map[string]string, specs ...map[string]string) map[string]string {
	out := map[string]string{}
	maps.Copy(out, stored)
	for _, declared := range specs {
		for key := range declared {
			delete(out, key)
		}
	}
	maps.Copy(out, target)
	if len(out) == 0 {
		return nil
	}
	return out
}

// deleted are the objects that the operator has deleted, by kind and name.
func (r *run) deleted() map[string]bool {
	out := map[string]bool{}
	for _, c := range r.calls {
		gone := c.before != nil && (c.after == nil || c.after.GetUID() != c.before.GetUID())
		marked := c.before != nil && c.after != nil && c.before.GetDeletionTimestamp() == nil && c.after.GetDeletionTimestamp() != nil
		if c.request.Verb == "delete" && (gone || marked) {
			out[displayName(c.gvk, c.key, c.before)] = true
		}
	}
	return out
}

// trace reports what was sent, a line each.
func (r *run) trace() []string {
	var lines []string
	for _, c := range r.calls {
		line := fmt.Sprintf("pass %d: %s", c.pass, c)
		switch {
		case c.err != nil:
			line += ": " + c.err.Error()
		case c.request.IsWrite() && !c.changed:
			line += ": changes nothing"
		}
		lines = append(lines, line)
	}
	return append(lines, fmt.Sprintf("%d passes", r.passes))
}
