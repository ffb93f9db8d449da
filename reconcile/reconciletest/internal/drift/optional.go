package drift

import (
	"context"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/internal/cluster"
	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/internal/description"
	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/internal/finding"
	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/internal/objects"
)

// unserved removes a kind that a cluster may lack, changes the owners, and restores it: the other children follow the change immediately,
// and those of the kind after an event that follows its return.
func (d *disturbance) unserved(ctx context.Context, kind schema.GroupKind) {
	w, before := d.run.Cluster, d.state()
	if err := w.Withdraw(ctx, kind); err != nil {
		d.checker.Find(d.name, finding.CheckRun, "%v", err)
		return
	}
	if _, steady := d.writes(ctx); !steady {
		return
	}
	changes := d.checker.System.Change != nil
	if changes {
		if err := w.Perform(ctx, description.StepB, false); err != nil || !d.settle(ctx) {
			return
		}
		d.follows(kind)
	}
	w.Restore()
	if _, steady := d.writes(ctx); !steady {
		return
	}
	want, got := before, d.state()
	d.checker.Random.Mask(want)
	if end := d.checker.End(description.StepB); changes && end != nil {
		want = end
	}
	moreHints(want, got)
	d.checker.Matches(d.name, want, got)
}

// moreHints normalises the annotation with the kinds of an ApplySet's members (KEP-3659): it may contain additional kinds, and does so
// after a kind was unavailable.
func moreHints(want, got cluster.State) {
	path := []string{"metadata", "annotations", "applyset.kubernetes.io/contains-group-kinds"}
	kinds := func(s cluster.State, object string) []string {
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

// follows reports a child of another kind that has not followed the change of the owners.
func (d *disturbance) follows(kind schema.GroupKind) {
	from, to := d.checker.End(description.StepA), d.checker.End(description.StepB)
	if from == nil || to == nil {
		return
	}
	now := d.state()
	d.checker.Random.Mask(now)
	printed := func(s cluster.State, object string) string { return cluster.Printed(cluster.SpecOf(s[object])) }
	for _, t := range d.checker.Children() {
		name := objects.Name(t.GVK, t.Key)
		if t.GVK.GroupKind() == kind || now[name] == nil || from[name] == nil || to[name] == nil {
			continue
		}
		if old := printed(from, name); old != printed(to, name) && old == printed(now, name) {
			d.checker.Find(d.name, finding.CheckState, "%s does not follow a change of the spec while %s, which a cluster may lack, is not served", name, kind)
			return
		}
	}
}
