package drift

import (
	"context"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/internal/baseline"
	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/internal/checker"
	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/internal/description"
	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/internal/run"
)

// lingering returns the cases in which a deletion by the operator completes late, like that of a volume in use; the change of the spec
// may be reverted in between.
func lingering(j *checker.Checker, first *baseline.Baseline) []baseline.Case {
	n := slices.IndexFunc(j.Baselines, func(s *baseline.Baseline) bool { return s.Name == "A-B" })
	if n < 0 {
		return nil
	}
	deleted := deletions(j, j.Baselines[n])
	if len(deleted) == 0 {
		return nil
	}
	var cases []baseline.Case
	for name, steps := range map[string][]description.Step{
		"slow deletion by a change":                             {description.StepB},
		"slow deletion by a change, and the change is reverted": {description.StepB, description.StepA},
	} {
		one := first.Varied("steady state: "+name, run.Variation{})
		one.Act = func(ctx context.Context, r *run.Run) {
			(&disturbance{checker: j, name: one.Name, run: r}).lingers(ctx, deleted, steps)
		}
		cases = append(cases, one)
	}
	slices.SortFunc(cases, func(a, b baseline.Case) int { return len(a.Name) - len(b.Name) })
	return cases
}

// deletions returns the objects of step A that the operator deletes for step B, except those with a finalizer.
func deletions(j *checker.Checker, change *baseline.Baseline) []baseline.Target {
	var out []baseline.Target
	known := map[string]bool{}
	for _, c := range change.Calls {
		t := baseline.Target{GVK: c.GVK, Key: c.Key}
		if c.Request.Verb != "delete" || !c.Changed || c.Before == nil || known[t.String()] || j.Probe.OwnerKinds()[c.GVK.GroupKind()] {
			continue
		}
		known[t.String()] = true
		if items, err := j.Probe.List(t.GVK); err == nil && items[t.Key] != nil && len(items[t.Key].GetFinalizers()) == 0 {
			out = append(out, t)
		}
	}
	return out
}

// lingers sets a finalizer on the objects, runs the steps, and removes it: the end state is that of the last step.
func (d *disturbance) lingers(ctx context.Context, deleted []baseline.Target, steps []description.Step) {
	for _, t := range deleted {
		if !d.update(ctx, t, func(u *unstructured.Unstructured) { u.SetFinalizers([]string{hold}) }) {
			return
		}
	}
	if !d.settle(ctx) {
		return
	}
	for _, s := range steps {
		if d.run.Cluster.Perform(ctx, s, false) != nil || !d.settle(ctx) {
			return
		}
	}
	for _, t := range deleted {
		if u := d.object(t); u != nil && slices.Contains(u.GetFinalizers(), hold) && !d.update(ctx, t, unmark) {
			return
		}
	}
	if d.settle(ctx) && !d.notTriggered(ctx, "the end of what was deleted slowly") {
		d.checker.Compare(d.name, steps[len(steps)-1], d.state())
	}
}

// unmark removes another client's marks from an object.
func unmark(u *unstructured.Unstructured) {
	finalizers := slices.DeleteFunc(u.GetFinalizers(), func(f string) bool { return f == hold })
	if len(finalizers) == 0 {
		finalizers = nil // no field instead of an empty one
	}
	u.SetFinalizers(finalizers)
	annotations := u.GetAnnotations()
	delete(annotations, note)
	if len(annotations) == 0 {
		annotations = nil
	}
	u.SetAnnotations(annotations)
}
