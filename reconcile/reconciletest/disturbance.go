package reconciletest

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/internal/objects"
)

// disturbance is a world at rest that others disturb.
type disturbance struct {
	explorer *explorer
	name     string
	run      *run
}

// target is an object that others disturb.
type target struct {
	gvk  schema.GroupVersionKind
	key  types.NamespacedName
	sent map[string]any // what the operator has created or applied
	// updated reports that the operator also updates the object, in some run without faults.
	updated bool
}

func (t target) String() string { return objects.Name(t.gvk, t.key) }

// disturbances are the cases in which others do something to a world at rest. A world in which time goes on has none.
func (e *explorer) disturbances() []testCase {
	if e.system.Horizon > 0 || len(e.plots) == 0 || e.system.Singleton != nil || e.probe == nil {
		return nil
	}
	first := e.plots[0]
	var cases []testCase
	add := func(name string, act func(ctx context.Context, d *disturbance)) {
		one := first.varied("at rest: "+name, variation{})
		one.act = act
		cases = append(cases, one)
	}
	for _, child := range e.children() {
		add("delete of "+child.String(), func(ctx context.Context, d *disturbance) { d.deleted(ctx, child) })
		add("edits of "+child.String(), func(ctx context.Context, d *disturbance) { d.edited(ctx, child) })
		add("annotation of somebody else on "+child.String(), func(ctx context.Context, d *disturbance) { d.annotated(ctx, child) })
		add("failure of "+child.String(), func(ctx context.Context, d *disturbance) { d.failing(ctx, child) })
	}
	cases = append(cases, e.takeovers(first)...)
	for _, input := range e.inputs() {
		add("change of "+input.String(), func(ctx context.Context, d *disturbance) { d.changed(ctx, input) })
		if e.pair != nil {
			cases[len(cases)-1].system = e.pair
		}
	}
	for _, read := range first.reads {
		add("cached read fails twice: "+read, func(ctx context.Context, d *disturbance) {
			d.run.last.view.reads.failing(read, 2) //nolint:mnd // times
			d.unread(ctx)
		})
	}
	known := map[string]bool{}
	for _, read := range first.live {
		request := read.request.String()
		if !known[request] {
			known[request] = true
			add("read fails twice: "+request, func(ctx context.Context, d *disturbance) {
				d.run.last.wire.arm(&injection{call: request, fault: faultError, lasting: 2}) //nolint:mnd // times
				d.unread(ctx)
			})
		}
	}
	for _, later := range []time.Duration{time.Hour, 40 * 24 * time.Hour} {
		add(fmt.Sprintf("%s pass", later), func(ctx context.Context, d *disturbance) { d.later(ctx, later) })
	}
	return cases
}

// children are the objects at the end of step A that the operator has made, without those that run once.
func (e *explorer) children() []target {
	found := map[string]*target{}
	for _, b := range e.plots {
		for _, c := range b.calls {
			if !c.changed || c.after == nil || c.request.Subresource != "" || c.after.GetGenerateName() != "" {
				continue
			}
			name := objects.Name(c.gvk, c.key)
			if c.before != nil && found[name] != nil {
				found[name].updated = true
			}
			if found[name] == nil && c.before == nil {
				found[name] = &target{gvk: c.gvk, key: c.key}
			}
			if t := found[name]; t != nil && b == e.plots[0] {
				if c.sent != nil && (c.request.Verb == "apply" || c.request.Verb == "create") {
					t.sent = c.sent
				}
			}
		}
	}
	owners := e.probe.ownerKinds()
	var out []target
	for _, name := range slices.Sorted(maps.Keys(found)) {
		t := found[name]
		once := t.gvk.Group == "batch" && t.gvk.Kind == "Job" || t.gvk.Group == "" && t.gvk.Kind == "Pod"
		if items, err := e.probe.list(t.gvk); once || err != nil || items[t.key] == nil || owners[t.gvk.GroupKind()] ||
			len(items[t.key].GetFinalizers()) > 0 || e.outlives(name) {
			continue
		}
		out = append(out, *t)
	}
	return out
}

// inputs are the objects of System.Given that the operator reads and does not write.
func (e *explorer) inputs() []target {
	written := map[string]bool{}
	for _, b := range e.plots {
		for _, c := range b.calls {
			written[objects.Name(c.gvk, c.key)] = written[objects.Name(c.gvk, c.key)] || c.changed
		}
	}
	var out []target
	for _, given := range e.system.Given {
		obj := given.DeepCopyObject().(client.Object) //nolint:forcetypeassert // a deep copy has the type of its original
		gvk, err := e.probe.place(obj)
		if err != nil {
			continue
		}
		t := target{gvk: gvk, key: client.ObjectKeyFromObject(obj)}
		if !written[t.String()] && gvk.Kind != "Namespace" {
			out = append(out, t)
		}
	}
	return out
}

// settle lets the operator answer, and reports whether it has come to rest.
func (d *disturbance) settle(ctx context.Context) bool {
	if err := d.run.last.settle(ctx); err != nil {
		d.explorer.find(d.name, CheckRest, "%v", err)
		return false
	}
	return true
}

// object is the target as it is stored now, nil when it is not there.
func (d *disturbance) object(t target) *unstructured.Unstructured {
	items, err := d.run.world.list(t.gvk)
	if err != nil || items[t.key] == nil {
		return nil
	}
	return items[t.key].DeepCopy()
}

// writes lets every owner have a pass, and returns what that has changed: somebody should have been woken for it.
func (d *disturbance) writes(ctx context.Context) (writes []string, rested bool) {
	sent := len(d.run.last.wire.calls())
	d.run.last.scheduler.WakeAll()
	if !d.settle(ctx) {
		return nil, false
	}
	return changedBy(d.run.last.wire.calls()[sent:]), true
}

// unwoken reports that a pass that comes for another reason has something left to do.
func (d *disturbance) unwoken(ctx context.Context, what string) bool {
	writes, rested := d.writes(ctx)
	if rested && len(writes) > 0 {
		d.explorer.find(d.name, CheckWatch, "nobody is woken by %s: only a pass that comes for another reason sends %s",
			what, strings.Join(writes, ", "))
	}
	return len(writes) > 0 || !rested
}

// same compares the world with what it was before.
func (d *disturbance) same(before State) {
	got, err := d.run.world.state()
	if err != nil {
		d.explorer.find(d.name, CheckRun, "%v", err)
		return
	}
	d.explorer.drawn.mask(before)
	d.explorer.matches(d.name, before, got)
}

func (d *disturbance) state() State {
	state, err := d.run.world.state()
	if err != nil {
		d.explorer.find(d.name, CheckRun, "%v", err)
	}
	return state
}

// deleted deletes a child: it has to come back as it was.
func (d *disturbance) deleted(ctx context.Context, t target) {
	before, old := d.state(), d.object(t)
	if old == nil {
		return
	}
	if err := d.run.world.client.Delete(ctx, old); err != nil || !d.settle(ctx) {
		return
	}
	if d.object(t) != nil {
		if !d.unwoken(ctx, "its coming back") {
			d.same(before)
		}
		return
	}
	if d.unwoken(ctx, "a delete of "+t.String()) {
		return
	}
	if d.object(t) == nil {
		d.explorer.find(d.name, CheckDrift, "%s was deleted by somebody, and is not made again", t)
	}
}

// edited edits what the operator has set of a child: each field has to come back. What the operator only creates, and fields
// that others may have taken over while the rest is put right, are theirs.
func (d *disturbance) edited(ctx context.Context, t target) {
	var stay, back, late []string
	for _, path := range objects.Leaves(t.sent) {
		if identifies(path) {
			continue
		}
		u := d.object(t)
		if u == nil {
			return
		}
		old, found := objects.At(u.Object, path)
		wrong, ok := objects.Edit(old, t.gvk.Kind == "Secret" && path[0] == "data")
		if !found || !ok || !objects.Put(u.Object, path, wrong) || d.run.world.client.Update(ctx, u) != nil {
			continue
		}
		if !d.settle(ctx) {
			return
		}
		restored := func() bool {
			now := d.object(t)
			if now == nil {
				return false
			}
			value, _ := objects.At(now.Object, path)
			return objects.Equal(value, old)
		}
		text := strings.Join(path, ".")
		switch {
		case restored():
			back = append(back, text)
			continue
		default:
			if _, rested := d.writes(ctx); !rested {
				return
			}
		}
		if restored() {
			late = append(late, text)
			continue
		}
		stay = append(stay, text)
		if u := d.object(t); u != nil && objects.Put(u.Object, path, old) && d.run.world.client.Update(ctx, u) != nil || !d.settle(ctx) {
			return
		}
	}
	if len(late) > 0 {
		d.explorer.find(d.name, CheckWatch, "nobody is woken by an edit of %s: %s only comes back with a pass that comes for another reason",
			t, strings.Join(late, ", "))
	}
	if len(back)+len(late) == 0 && !t.updated && !mustStay(t.gvk) {
		return // made once, and left to others
	}
	stay = slices.DeleteFunc(stay, func(path string) bool { return path == "spec.replicas" && len(back)+len(late) > 0 })
	if len(stay) > 0 {
		d.explorer.find(d.name, CheckDrift, "%s was edited by somebody, and stays so: %s", t, strings.Join(stay, ", "))
	}
}

// identifies reports whether a value is the key of an element of a list: with another one it is another element.
func identifies(path []string) bool {
	if len(path) < 3 || !slices.Contains([]string{"name", "key", "type", "port", "containerPort", "mountPath"}, path[len(path)-1]) {
		return false
	}
	_, err := strconv.Atoi(path[len(path)-2])
	return err == nil
}

// mustStay are the kinds that nobody makes once and leaves to others: what runs, and what allows and forbids.
func mustStay(gvk schema.GroupVersionKind) bool {
	return slices.Contains(workloads(), gvk) || gvk.Group == "rbac.authorization.k8s.io" || gvk.Kind == "NetworkPolicy"
}

const note = "example.com/note"

// annotated puts an annotation of somebody else on a child: it has to stay, also when the owner changes.
func (d *disturbance) annotated(ctx context.Context, t target) {
	u := d.object(t)
	if u == nil {
		return
	}
	annotations := u.GetAnnotations()
	if annotations == nil {
		annotations = map[string]string{}
	}
	annotations[note] = "of somebody else"
	u.SetAnnotations(annotations)
	if err := d.run.world.client.Update(ctx, u); err != nil || !d.settle(ctx) {
		return
	}
	if _, rested := d.writes(ctx); !rested {
		return
	}
	if d.explorer.system.Change != nil && d.object(t) != nil && d.object(t).GetAnnotations()[note] != "" {
		if err := d.run.world.perform(ctx, stepB, false); err != nil || !d.settle(ctx) {
			return
		}
	}
	if now := d.object(t); now != nil && now.GetUID() == u.GetUID() && now.GetAnnotations()[note] == "" {
		d.explorer.find(d.name, CheckForeign, "the annotation that somebody else has put on %s is taken away: "+
			"change what is yours and leave the rest", t)
	}
}

// failing breaks the status of a child that is ready: its owner must not be ready, until the child is ready again.
func (d *disturbance) failing(ctx context.Context, t target) {
	u := d.object(t)
	ready, err := d.run.world.claims()
	if u == nil || err != nil || len(ready) == 0 || metav1.GetControllerOf(u) == nil || len(d.explorer.system.StandIns) == 0 {
		return
	}
	before := d.state()
	if !breakStatus(u) {
		return
	}
	d.run.world.frozen = true
	if err := d.run.world.client.Status().Update(ctx, u); err != nil || !d.settle(ctx) {
		return
	}
	still, err := d.run.world.claims()
	if err == nil && slices.Equal(still, ready) && slices.Contains(workloads(), t.gvk) {
		d.explorer.find(d.name, CheckReady, "%s calls itself ready although %s is not any more", strings.Join(still, ", "), t)
	}
	d.run.world.frozen = false
	if d.settle(ctx) && !d.unwoken(ctx, "the recovery of "+t.String()) {
		d.same(before)
	}
}

// breakStatus makes a status that of a failure; false when there is nothing in it that could fail.
func breakStatus(u *unstructured.Unstructured) bool {
	status, _ := u.Object["status"].(map[string]any)
	broken := false
	for _, key := range []string{"readyReplicas", "availableReplicas", "numberReady", "numberAvailable"} {
		if n, ok := status[key].(int64); ok && n > 0 {
			status[key], broken = int64(0), true
		}
	}
	for _, condition := range objects.Maps(status, "conditions") {
		if kind := condition["type"]; (kind == "Ready" || kind == "Available") && condition["status"] == "True" {
			condition["status"], condition["reason"], broken = "False", "Broken", true
		}
	}
	return broken
}

// changed edits an object that the operator reads and takes the edits back: whoever it matters to has to be woken, and the end is
// that of before. Then it deletes the object and makes it again.
func (d *disturbance) changed(ctx context.Context, t target) {
	before, old := d.state(), d.object(t)
	if old == nil {
		return
	}
	for n, path := range objects.Leaves(objects.Without(old.Object, "status")) {
		if n == objects.MaxEdits {
			break
		}
		u := d.object(t)
		value, _ := objects.At(u.Object, path)
		wrong, ok := objects.Edit(value, t.gvk.Kind == "Secret" && path[0] == "data")
		if !ok || !objects.Put(u.Object, path, wrong) || d.run.world.client.Update(ctx, u) != nil {
			continue
		}
		if !d.settle(ctx) || d.unwoken(ctx, "an edit of "+t.String()) {
			return
		}
		if u = d.object(t); u == nil || !objects.Put(u.Object, path, value) || d.run.world.client.Update(ctx, u) != nil || !d.settle(ctx) {
			return
		}
	}
	d.same(before)
	// After a delete the end may be another one: the operator may have had to choose something else.
	if err := d.run.world.client.Delete(ctx, d.object(t)); err != nil || !d.settle(ctx) || d.unwoken(ctx, "a delete of "+t.String()) {
		return
	}
	for _, given := range d.explorer.system.Given {
		obj := given.DeepCopyObject().(client.Object) //nolint:forcetypeassert // a deep copy has the type of its original
		if gvk, err := d.run.world.place(obj); err == nil && gvk == t.gvk && client.ObjectKeyFromObject(obj) == t.key {
			if d.run.world.add(ctx, given) != nil {
				return
			}
		}
	}
	if d.settle(ctx) {
		d.unwoken(ctx, "a new "+t.String())
	}
}

// unread lets every owner have a pass in which a read fails: nothing is damaged, and the end is that of before.
func (d *disturbance) unread(ctx context.Context) {
	before := d.state()
	sent := len(d.run.last.wire.calls())
	if _, rested := d.writes(ctx); !rested {
		return
	}
	part := &run{world: d.run.world, last: d.run.last, calls: d.run.last.wire.calls()[sent:]}
	d.explorer.checkDamage(d.name, part)
	for object := range part.deleted() {
		d.explorer.find(d.name, CheckDamage, "deletes %s while a read fails", object)
	}
	d.same(before)
}

// later lets time pass: if that makes work, a pass must have been planned for it.
func (d *disturbance) later(ctx context.Context, by time.Duration) {
	d.run.world.clock.Set(d.run.world.clock.Now().Add(by))
	d.run.last.scheduler.Wake()
	sent := len(d.run.last.wire.calls())
	if d.run.last.after(ctx) != nil || !d.settle(ctx) || d.repeated(sent, by) {
		return
	}
	if writes, rested := d.writes(ctx); rested && len(writes) > 0 {
		d.explorer.find(d.name, CheckTime, "after %s a pass that comes for another reason sends %s: no pass was planned for that time",
			by, strings.Join(writes, ", "))
	}
}

// repeated looks for Jobs that were done, were cleaned up after their time, and are made again.
func (d *disturbance) repeated(sent int, by time.Duration) bool {
	done := map[string]bool{}
	for _, c := range d.run.calls {
		done[objects.Name(c.gvk, c.key)] = c.gvk.GroupKind() == schema.GroupKind{Group: "batch", Kind: "Job"}
	}
	for _, c := range d.run.last.wire.calls()[sent:] {
		if c.changed && c.before == nil && done[objects.Name(c.gvk, c.key)] {
			d.explorer.find(d.name, CheckTime, "%s later %s was done and is cleaned up (ttlSecondsAfterFinished), and is made again: it runs twice",
				by, objects.Name(c.gvk, c.key))
			return true
		}
	}
	return false
}
