package drift

import (
	"context"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/internal/description"
	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/internal/run"
	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/internal/story"
	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/internal/verdict"
)

// lingering returns the cases in which a deletion by the operator completes late, like that of a volume in use; the change of the spec
// may be reverted in between.
func lingering(j *verdict.Judge, first *story.Story) []story.Case {
	n := slices.IndexFunc(j.Stories, func(s *story.Story) bool { return s.Name == "A-B" })
	if n < 0 {
		return nil
	}
	deleted := deletions(j, j.Stories[n])
	if len(deleted) == 0 {
		return nil
	}
	var cases []story.Case
	for name, steps := range map[string][]description.Step{
		"what a change deletes goes slowly":                           {description.StepB},
		"what a change deletes goes slowly, and the change goes back": {description.StepB, description.StepA},
	} {
		one := first.Varied("at rest: "+name, run.Variation{})
		one.Act = func(ctx context.Context, r *run.Run) {
			(&disturbance{judge: j, name: one.Name, run: r}).lingers(ctx, deleted, steps)
		}
		cases = append(cases, one)
	}
	slices.SortFunc(cases, func(a, b story.Case) int { return len(a.Name) - len(b.Name) })
	return cases
}

// deletions returns the objects of step A that the operator deletes for step B, except those with a finalizer.
func deletions(j *verdict.Judge, change *story.Story) []story.Target {
	var out []story.Target
	known := map[string]bool{}
	for _, c := range change.Calls {
		t := story.Target{GVK: c.GVK, Key: c.Key}
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
func (d *disturbance) lingers(ctx context.Context, deleted []story.Target, steps []description.Step) {
	for _, t := range deleted {
		if !d.update(ctx, t, func(u *unstructured.Unstructured) { u.SetFinalizers([]string{hold}) }) {
			return
		}
	}
	if !d.settle(ctx) {
		return
	}
	for _, s := range steps {
		if d.run.World.Perform(ctx, s, false) != nil || !d.settle(ctx) {
			return
		}
	}
	for _, t := range deleted {
		if u := d.object(t); u != nil && slices.Contains(u.GetFinalizers(), hold) && !d.update(ctx, t, unmark) {
			return
		}
	}
	if d.settle(ctx) && !d.unwoken(ctx, "the end of what was deleted slowly") {
		d.judge.Compare(d.name, steps[len(steps)-1], d.state())
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
