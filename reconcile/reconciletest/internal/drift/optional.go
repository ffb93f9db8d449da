package drift

import (
	"context"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/internal/description"
	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/internal/finding"
	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/internal/objects"
	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/internal/world"
)

// unserved takes a kind away that a cluster may lack, changes the owners meanwhile, and brings it back: the other children follow
// the change at once, and those of the kind once somebody wakes the operator after its return.
func (d *disturbance) unserved(ctx context.Context, kind schema.GroupKind) {
	w, before := d.run.World, d.state()
	if err := w.Withdraw(ctx, kind); err != nil {
		d.judge.Find(d.name, finding.CheckRun, "%v", err)
		return
	}
	if _, rested := d.writes(ctx); !rested {
		return
	}
	changes := d.judge.System.Change != nil
	if changes {
		if err := w.Perform(ctx, description.StepB, false); err != nil || !d.settle(ctx) {
			return
		}
		d.follows(kind)
	}
	w.Restore()
	if _, rested := d.writes(ctx); !rested {
		return
	}
	want, got := before, d.state()
	d.judge.Drawn.Mask(want)
	if end := d.judge.End(description.StepB); changes && end != nil {
		want = end
	}
	moreHints(want, got)
	d.judge.Matches(d.name, want, got)
}

// moreHints evens out the annotation that names the kinds of the members of an ApplySet (KEP-3659): it may name more of them, and after
// a time in which nobody could ask for a kind it does.
func moreHints(want, got world.State) {
	path := []string{"metadata", "annotations", "applyset.kubernetes.io/contains-group-kinds"}
	kinds := func(s world.State, object string) []string {
		value, _ := objects.At(s[object], path)
		text, _ := value.(string)
		return strings.Split(text, ",")
	}
	for object := range got {
		wanted := kinds(want, object)
		lacks := func(kind string) bool { return !slices.Contains(kinds(got, object), kind) }
		if wanted[0] != "" && !slices.ContainsFunc(wanted, lacks) {
			objects.Put(got[object], path, strings.Join(wanted, ","))
		}
	}
}

// follows reports a child of another kind that the change of the owners has not reached.
func (d *disturbance) follows(kind schema.GroupKind) {
	from, to := d.judge.End(description.StepA), d.judge.End(description.StepB)
	if from == nil || to == nil {
		return
	}
	now := d.state()
	d.judge.Drawn.Mask(now)
	printed := func(s world.State, object string) string { return world.Printed(world.SpecOf(s[object])) }
	for _, t := range d.judge.Children() {
		name := objects.Name(t.GVK, t.Key)
		if t.GVK.GroupKind() == kind || now[name] == nil || from[name] == nil || to[name] == nil {
			continue
		}
		if old := printed(from, name); old != printed(to, name) && old == printed(now, name) {
			d.judge.Find(d.name, finding.CheckState, "%s does not follow a change of the spec while %s, which a cluster may lack, is not served", name, kind)
			return
		}
	}
}
