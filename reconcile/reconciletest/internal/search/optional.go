package search

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
		d.explorer.find(d.name, finding.CheckRun, "%v", err)
		return
	}
	if _, rested := d.writes(ctx); !rested {
		return
	}
	changes := d.explorer.system.Change != nil
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
	d.explorer.drawn.mask(want)
	if end := d.explorer.ends[description.StepB]; changes && end != nil {
		want = end.state
	}
	moreHints(want, got)
	d.explorer.matches(d.name, want, got)
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
	from, to := d.explorer.ends[description.StepA], d.explorer.ends[description.StepB]
	if from == nil || to == nil {
		return
	}
	now := d.state()
	d.explorer.drawn.mask(now)
	printed := func(s world.State, object string) string { return world.Printed(specOf(s[object])) }
	for _, t := range d.explorer.children() {
		name := objects.Name(t.gvk, t.key)
		if t.gvk.GroupKind() == kind || now[name] == nil || from.state[name] == nil || to.state[name] == nil {
			continue
		}
		if old := printed(from.state, name); old != printed(to.state, name) && old == printed(now, name) {
			d.explorer.find(d.name, finding.CheckState, "%s does not follow a change of the spec while %s, which a cluster may lack, is not served", name, kind)
			return
		}
	}
}

// unmade are the kinds of System.Optional that no run has made an object of.
func (e *explorer) unmade() []schema.GroupKind {
	made := map[schema.GroupKind]bool{}
	for _, b := range e.plots {
		for _, c := range b.calls {
			made[c.GVK.GroupKind()] = made[c.GVK.GroupKind()] || c.Changed && c.After != nil
		}
	}
	var out []schema.GroupKind
	for _, kind := range e.system.Optional {
		if !made[kind] {
			out = append(out, kind)
		}
	}
	return out
}
