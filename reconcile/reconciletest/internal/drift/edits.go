package drift

import (
	"context"
	"slices"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/internal/baseline"
	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/internal/cluster"
	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/internal/description"
	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/internal/finding"
	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/internal/objects"
)

// deleted deletes a child: the operator must recreate it.
func (d *disturbance) deleted(ctx context.Context, t baseline.Target) {
	before, old := d.state(), d.object(t)
	if old == nil {
		return
	}
	if err := d.run.Cluster.Client.Delete(ctx, old); err != nil || !d.settle(ctx) {
		return
	}
	if d.object(t) != nil {
		if !d.notTriggered(ctx, "its coming back") {
			d.same(before)
		}
		return
	}
	if d.notTriggered(ctx, "a delete of "+t.String()) {
		return
	}
	if d.object(t) == nil {
		d.checker.Find(d.name, finding.CheckDrift, "%s was deleted by another client and is not recreated", t)
	}
}

// edited edits the fields of a child that the operator sets: each must be restored. Fields that the operator only creates, and fields
// that others may take over, are exempt.
func (d *disturbance) edited(ctx context.Context, t baseline.Target) {
	answers := map[answer][]string{}
	paths, _ := objects.Leaves(t.Sent)
	for _, path := range paths {
		if identifies(path) {
			continue
		}
		how, steady := d.edit(ctx, t, path)
		if !steady {
			return
		}
		answers[how] = append(answers[how], strings.Join(path, "."))
	}
	back, late, stay := answers[repaired], answers[repairedLate], answers[kept]
	if len(late) > 0 {
		d.checker.Find(d.name, finding.CheckWatch, "an edit of %s triggers no pass: %s is restored only by a pass for another reason",
			t, strings.Join(late, ", "))
	}
	if len(back)+len(late) == 0 && !t.Updated && !mustStay(t.GVK) {
		return // created once, and owned by others
	}
	stay = slices.DeleteFunc(stay, func(path string) bool { return path == "spec.replicas" && len(back)+len(late) > 0 })
	if len(stay) > 0 {
		d.checker.Find(d.name, finding.CheckDrift, "%s was edited by another client and is not restored: %s", t, strings.Join(stay, ", "))
	}
}

// answer is the outcome of an edit.
type answer int

const (
	unedited     answer = iota // the field cannot be edited
	repaired                   // immediately
	repairedLate               // by a pass for another reason
	kept
)

// edit edits one field of a child and reverts an edit that remains. It returns false if the passes do not end or the child is gone.
func (d *disturbance) edit(ctx context.Context, t baseline.Target, path []string) (how answer, steady bool) {
	u := d.object(t)
	if u == nil {
		return unedited, false
	}
	old, found := objects.At(u.Object, path)
	if !found || !d.overwrite(ctx, t, path) {
		return unedited, true
	}
	restored := func() bool {
		now := d.object(t)
		if now == nil {
			return false
		}
		value, _ := objects.At(now.Object, path)
		return objects.Equal(value, old)
	}
	if !d.settle(ctx) {
		return kept, false
	}
	if restored() {
		return repaired, true
	}
	if _, steady := d.writes(ctx); !steady {
		return kept, false
	}
	if restored() {
		return repairedLate, true
	}
	u = d.object(t)
	refused := u != nil && objects.Put(u.Object, path, old) && d.run.Cluster.Client.Update(ctx, u) != nil
	return kept, !refused && d.settle(ctx)
}

// identifies reports whether a value is the key of a list element: changing it makes another element.
func identifies(path []string) bool {
	if len(path) < 3 || !slices.Contains([]string{"name", "key", "type", "port", "containerPort", "mountPath"}, path[len(path)-1]) {
		return false
	}
	_, err := strconv.Atoi(path[len(path)-2])
	return err == nil
}

// mustStay returns the kinds that an operator must not create once and leave to others: workloads and access rules.
func mustStay(gvk schema.GroupVersionKind) bool {
	return slices.Contains(cluster.Workloads(), gvk) || gvk.Group == "rbac.authorization.k8s.io" || gvk.Kind == "NetworkPolicy"
}

// annotated sets another client's annotation on a child: it must remain, also when the owner changes.
func (d *disturbance) annotated(ctx context.Context, t baseline.Target) {
	u := d.object(t)
	if u == nil {
		return
	}
	annotations := u.GetAnnotations()
	if annotations == nil {
		annotations = map[string]string{}
	}
	annotations[note] = "of another client"
	u.SetAnnotations(annotations)
	if err := d.run.Cluster.Client.Update(ctx, u); err != nil || !d.settle(ctx) {
		return
	}
	if _, steady := d.writes(ctx); !steady {
		return
	}
	if d.checker.System.Change != nil && d.object(t) != nil && d.object(t).GetAnnotations()[note] != "" {
		if err := d.run.Cluster.Perform(ctx, description.StepB, false); err != nil || !d.settle(ctx) {
			return
		}
	}
	if now := d.object(t); now != nil && now.GetUID() == u.GetUID() && now.GetAnnotations()[note] == "" {
		d.checker.Find(d.name, finding.CheckForeign, "the annotation of another client on %s is removed: "+
			"change what is yours and leave the rest", t)
	}
}

// changed edits an object that the operator reads and reverts the edits: an event must trigger the affected owners, and the end state is
// the previous one.
func (d *disturbance) changed(ctx context.Context, t baseline.Target) {
	before, old := d.state(), d.object(t)
	if old == nil {
		return
	}
	paths, _ := objects.Leaves(old.Object)
	for _, path := range paths {
		u := d.object(t)
		value, _ := objects.At(u.Object, path)
		if !d.overwrite(ctx, t, path) {
			continue
		}
		if !d.settle(ctx) || d.notTriggered(ctx, "an edit of "+t.String()) {
			return
		}
		if u = d.object(t); u == nil || !objects.Put(u.Object, path, value) || d.run.Cluster.Client.Update(ctx, u) != nil || !d.settle(ctx) {
			return
		}
	}
	d.same(before)
	d.replaced(ctx, t)
}

// replaced deletes an object that the operator reads and recreates it: an event must trigger the affected owners.
func (d *disturbance) replaced(ctx context.Context, t baseline.Target) {
	// After a deletion the end state may differ, because the operator may have had to choose another object.
	if err := d.run.Cluster.Client.Delete(ctx, d.object(t)); err != nil || !d.settle(ctx) || d.notTriggered(ctx, "a delete of "+t.String()) {
		return
	}
	for _, given := range d.checker.System.Given {
		obj := given.DeepCopyObject().(client.Object) //nolint:forcetypeassert // a deep copy has the type of its original
		if gvk, err := d.run.Cluster.Place(obj); err == nil && gvk == t.GVK && client.ObjectKeyFromObject(obj) == t.Key {
			if d.run.Cluster.Add(ctx, given) != nil {
				return
			}
		}
	}
	if d.settle(ctx) {
		d.notTriggered(ctx, "a new "+t.String())
	}
}
