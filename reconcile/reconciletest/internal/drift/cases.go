package drift

import (
	"context"
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/internal/baseline"
	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/internal/checker"
	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/internal/objects"
	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/internal/run"
	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/internal/transport"
)

const second = 1100 * time.Millisecond

// Cases returns the cases in which others disturb a cluster in steady state. There are none if the system acts on a schedule.
func Cases(j *checker.Checker) []baseline.Case {
	if !j.Disturbs() {
		return nil
	}
	first := j.Baselines[0]
	var cases []baseline.Case
	add := func(name string, act func(ctx context.Context, d *disturbance)) {
		one := first.Varied("steady state: "+name, run.Variation{})
		one.Act = func(ctx context.Context, r *run.Run) { act(ctx, &disturbance{checker: j, name: one.Name, run: r}) }
		cases = append(cases, one)
	}
	for _, child := range j.Children() {
		add("delete of "+child.String(), func(ctx context.Context, d *disturbance) { d.deleted(ctx, child) })
		add("edits of "+child.String(), func(ctx context.Context, d *disturbance) { d.edited(ctx, child) })
		add("annotation of another client on "+child.String(), func(ctx context.Context, d *disturbance) { d.annotated(ctx, child) })
		add("failure of "+child.String(), func(ctx context.Context, d *disturbance) { d.failing(ctx, child) })
	}
	for _, kind := range j.System.Optional {
		add("not served: "+kind.String(), func(ctx context.Context, d *disturbance) { d.unserved(ctx, kind) })
	}
	cases = append(cases, takeovers(j, first)...)
	for _, input := range j.Inputs() {
		add("change of "+input.String(), func(ctx context.Context, d *disturbance) { d.changed(ctx, input) })
		if j.Pair != nil {
			cases[len(cases)-1].System = j.Pair
		}
	}
	for _, read := range first.Reads {
		add("cached read fails twice: "+read, func(ctx context.Context, d *disturbance) {
			d.run.Last.View.Reads.Failing(read, 2) //nolint:mnd // times
			d.unread(ctx)
		})
	}
	known := map[string]bool{}
	for _, read := range first.Live {
		request := read.Request.String()
		if !known[request] {
			known[request] = true
			add("read fails twice: "+request, func(ctx context.Context, d *disturbance) {
				d.run.Last.Wire.Arm(&transport.Injection{Call: request, Fault: transport.FaultError, Lasting: 2}) //nolint:mnd // times
				d.unread(ctx)
			})
		}
	}
	cases = append(cases, overlaps(j, first)...)
	cases = append(cases, marks(j)...)
	cases = append(cases, lingering(j, first)...)
	add(fmt.Sprintf("the clock is set back by %s", time.Hour), func(ctx context.Context, d *disturbance) { d.earlier(ctx, time.Hour) })
	for _, later := range []time.Duration{time.Hour, 40 * 24 * time.Hour} {
		add(fmt.Sprintf("%s pass", later), func(ctx context.Context, d *disturbance) { d.later(ctx, later) })
	}
	return cases
}

// takeovers returns the cases in which another client changes an owner, a child, or the namespace.
func takeovers(j *checker.Checker, first *baseline.Baseline) []baseline.Case {
	var cases []baseline.Case
	add := func(name string, act func(ctx context.Context, d *disturbance)) {
		one := first.Varied("steady state: "+name, run.Variation{})
		one.Act = func(ctx context.Context, r *run.Run) { act(ctx, &disturbance{checker: j, name: one.Name, run: r}) }
		cases = append(cases, one)
	}
	add("a second of the real time passes", func(ctx context.Context, d *disturbance) {
		time.Sleep(second)
		d.checker.CheckQuiet(ctx, d.name, d.run, false)
	})
	add("finalizer of another client on the owner", func(ctx context.Context, d *disturbance) { d.held(ctx, hold) })
	add("deletion in the foreground", func(ctx context.Context, d *disturbance) { d.held(ctx, metav1.FinalizerDeleteDependents) })
	add("deletion of the namespace", func(ctx context.Context, d *disturbance) { d.namespaceDeleted(ctx) })
	known := map[schema.GroupVersionKind]bool{}
	for _, child := range j.Children() {
		if known[child.GVK] {
			continue // one of a kind
		}
		known[child.GVK] = true
		add("slow deletion of "+child.String(), func(ctx context.Context, d *disturbance) { d.terminating(ctx, child) })
		add("another controller's "+child.String(), func(ctx context.Context, d *disturbance) { d.taken(ctx, child) })
	}
	return cases
}

// Unedited returns the objects with too many fields to edit all of them.
func Unedited(j *checker.Checker) []string {
	if !j.Disturbs() {
		return nil
	}
	var out []string
	note := func(t baseline.Target, content map[string]any) {
		if _, left := objects.Leaves(content); left > 0 {
			out = append(out, fmt.Sprintf("%d of the %d fields of %s", left, left+objects.MaxEdits, t))
		}
	}
	for _, t := range j.Children() {
		note(t, t.Sent)
	}
	for _, t := range j.Inputs() {
		if items, err := j.Probe.List(t.GVK); err == nil && items[t.Key] != nil {
			note(t, items[t.Key].Object)
		}
	}
	return out
}
