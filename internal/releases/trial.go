package releases

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/utils/clock"
	testingclock "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/reconcilekit/reconcilekit/internal/widget"
	"github.com/reconcilekit/reconcilekit/manifests"
	"github.com/reconcilekit/reconcilekit/reconcile/apply"
	"github.com/reconcilekit/reconcilekit/reconcile/apply/engine"
)

const (
	fieldManager = "releases"
	editor       = "editor"
	// mostPasses is the number of passes within which a plan must reach steady state.
	mostPasses = 20
	// patience is for an API server that deletes the objects of many CRDs.
	patience = 3 * time.Minute
	// pause is the time between two passes that wait for the API server.
	pause = 500 * time.Millisecond
	// settled is the time after which the engine repeats refused and contested writes.
	settled = 10 * time.Minute
)

// trial is one owner on the server.
type trial struct {
	ctx     context.Context //nolint:containedctx // lives as long as the trial
	server  *Server
	report  *Report
	project string

	owner  *widget.Widget
	client *counted
	clock  *testingclock.FakeClock
	engine *engine.Engine
	plan   []*unstructured.Unstructured
}

// Run tries the releases of a project. An error is about the server or the files; what the engine does wrong is in the report.
func (s *Server) Run(ctx context.Context, p Project, r *Report) error {
	t := &trial{ctx: ctx, server: s, report: r, project: p.Name, clock: testingclock.NewFakeClock(clock.RealClock{}.Now())}
	r.Projects++
	r.Files += len(p.Releases)
	releases := make([][]*unstructured.Unstructured, len(p.Releases))
	for i, release := range p.Releases {
		var err error
		if releases[i], err = t.read(release); err != nil {
			return err
		}
	}
	before, err := t.prepare(releases)
	if err != nil {
		return err
	}
	fresh := make([]map[string]map[string]any, len(releases))
	for i, objects := range releases {
		r.fault = r.faultOf(p.Releases[i].Name)
		if fresh[i], err = t.alone(objects, before); err != nil {
			return fmt.Errorf("%s: %w", p.Releases[i].Name, err)
		}
	}
	if len(releases) == 1 {
		return nil
	}
	r.fault = r.faultOf(p.Name + ", upgraded")
	if err := t.install(releases[0]); err != nil {
		return err
	}
	for i := 1; i < len(releases); i++ {
		if err := t.upgrade(releases[i], fresh[i]); err != nil {
			return fmt.Errorf("upgrade to %s: %w", p.Releases[i].Name, err)
		}
	}
	return t.remove(before)
}

// alone installs a release, edits its fields and removes it. It returns the stored objects.
func (t *trial) alone(objects []*unstructured.Unstructured, before map[object]*metav1.PartialObjectMetadata) (map[string]map[string]any, error) {
	if err := t.install(objects); err != nil {
		return nil, err
	}
	fresh := t.stored()
	if err := t.editAll(); err != nil {
		return nil, err
	}
	return fresh, t.remove(before)
}

// namespace is the namespace of the owner.
func (t *trial) namespace() string { return "releases-" + t.project }

// prepare creates the namespace of the owner, with an object of another controller, and the namespaces that a release names and does not
// contain. It returns the objects on the server.
func (t *trial) prepare(releases [][]*unstructured.Unstructured) (map[object]*metav1.PartialObjectMetadata, error) {
	others := []client.Object{
		&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: t.namespace()}},
		&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "bystander", Namespace: t.namespace()}},
	}
	for _, objects := range releases {
		for _, o := range objects {
			name := o.GetNamespace()
			planned := func(u *unstructured.Unstructured) bool { return u.GetKind() == "Namespace" && u.GetName() == name }
			if name != "" && !slices.ContainsFunc(objects, planned) {
				others = append(others, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}})
			}
		}
	}
	for _, o := range others {
		if err := t.server.admin.Create(t.ctx, o); err != nil && !apierrors.IsAlreadyExists(err) {
			return nil, err
		}
	}
	return t.server.objects(t.ctx)
}

// read decodes a release.
func (t *trial) read(release Release) ([]*unstructured.Unstructured, error) {
	objects, err := manifests.Objects(release.Name, release.Text, t.server.scheme)
	if err != nil {
		return nil, err
	}
	var out []*unstructured.Unstructured
	for _, o := range objects {
		u, ok := o.(*unstructured.Unstructured)
		if !ok {
			return nil, fmt.Errorf("%s: %T is not unstructured", release.Name, o)
		}
		out = append(out, u)
		t.report.Objects++
	}
	return out, nil
}

// install creates an owner whose plan is the objects, reconciles it to steady state and restarts the engine.
func (t *trial) install(objects []*unstructured.Unstructured) error {
	t.plan = objects
	t.owner = &widget.Widget{ObjectMeta: metav1.ObjectMeta{Name: "owner", Namespace: t.namespace()}}
	if err := t.server.admin.Create(t.ctx, t.owner); err != nil {
		return err
	}
	if err := t.restart(); err != nil {
		return err
	}
	return t.converge()
}

// upgrade replaces the plan, as a new version of the operator does, and compares the objects with those of a new owner.
func (t *trial) upgrade(objects []*unstructured.Unstructured, fresh map[string]map[string]any) error {
	t.report.Upgrades++
	t.plan = objects
	t.owner.Spec.Message += "+"
	if err := t.server.admin.Update(t.ctx, t.owner); err != nil {
		return err
	}
	if err := t.restart(); err != nil {
		return err
	}
	if err := t.converge(); err != nil {
		return err
	}
	t.same(fresh)
	return nil
}

// restart starts an engine without memory.
func (t *trial) restart() error {
	t.client = &counted{Client: t.server.admin}
	var err error
	t.engine, err = engine.New(t.client, live{t.client}, apply.Options{FieldManager: fieldManager, Clock: t.clock})
	return err
}

// current reads the owner and returns its plan.
func (t *trial) current() (*widget.Widget, apply.Plan, error) {
	var plan apply.Plan
	if err := t.server.admin.Get(t.ctx, client.ObjectKeyFromObject(t.owner), t.owner); err != nil {
		return nil, plan, err
	}
	if t.owner.DeletionTimestamp == nil {
		for _, o := range t.plan {
			plan.Apply(o.DeepCopy(), optionsOf(o)...)
		}
	}
	owner, _ := t.owner.DeepCopyObject().(*widget.Widget)
	return owner, plan, nil
}

// pass applies the plan once.
func (t *trial) pass() (apply.Result, []string, error) {
	owner, plan, err := t.current()
	if err != nil {
		return apply.Result{}, nil, err
	}
	t.client.take()
	result := t.engine.Apply(t.ctx, owner, plan)
	t.report.passes++
	return result, t.client.take(), nil
}

// optionsOf returns the options of a planned object: a Job of another release cannot be changed, only recreated.
func optionsOf(o *unstructured.Unstructured) []apply.ChildOption {
	if o.GetKind() == "Job" {
		return []apply.ChildOption{apply.Recreate()}
	}
	return nil
}

// rest passes until nothing is sent and nothing fails, or until the errors no longer change.
func (t *trial) rest() (result apply.Result, err error) {
	for range mostPasses {
		var sent []string
		if result, sent, err = t.pass(); err != nil {
			return result, err
		}
		if len(sent) == 0 && result.Err() == nil && result.OwnerErr == nil && result.PruneBlocked == nil {
			return result, nil
		}
		if len(sent) > 0 {
			continue
		}
		if err := t.server.collect(t.ctx); err != nil {
			return result, err
		}
		t.clock.Step(max(result.RequeueAfter, time.Second))
	}
	return result, nil
}

// converge brings the plan to steady state. Objects that the API server refuses from every client are named and left out.
func (t *trial) converge() error {
	result, err := t.rest()
	if err != nil {
		return err
	}
	if result.Err() != nil {
		if err := t.leaveOut(result); err != nil {
			return err
		}
		t.clock.Step(settled)
		if result, err = t.rest(); err != nil {
			return err
		}
	}
	if err := result.Err(); err != nil {
		t.report.fault("does not converge: %v", err)
	}
	if result.PruneBlocked != nil {
		t.report.fault("prune blocked: %v", result.PruneBlocked)
	}
	if err := t.steady("in steady state"); err != nil {
		return err
	}
	t.report.Restarts++
	if err := t.restart(); err != nil {
		return err
	}
	owner, plan, err := t.current()
	if err != nil {
		return err
	}
	decisions, err := t.engine.Diff(t.ctx, owner, plan, engine.DiffOptions{})
	if err != nil {
		return fmt.Errorf("compare after a restart: %w", err)
	}
	for i := range decisions.Objects {
		if decisions.Objects[i].Verb == apply.VerbUpdate {
			t.report.resent(decisions.Objects[i])
		}
	}
	if _, err := t.rest(); err != nil {
		return err
	}
	return t.steady("after a restart")
}

// steady reports a fault if a pass sends a request.
func (t *trial) steady(when string) error {
	result, sent, err := t.pass()
	if err == nil && (len(sent) > 0 || result.Err() != nil) {
		t.report.fault("%s it sends %v: %v", when, sent, result.Err())
	}
	return err
}

// leaveOut removes the failed objects from the plan that the API server refuses to create for another client, too.
func (t *trial) leaveOut(result apply.Result) error {
	for i := range result.Objects {
		failed := &result.Objects[i]
		if failed.Err == nil {
			continue
		}
		index := slices.IndexFunc(t.plan, func(o *unstructured.Unstructured) bool { return t.is(o, failed) })
		if index < 0 {
			continue
		}
		o := t.placed(t.plan[index])
		err := t.server.admin.Create(t.ctx, o, client.DryRunAll, client.FieldOwner(editor))
		if err == nil || apierrors.IsAlreadyExists(err) {
			continue
		}
		t.report.refused(failed.GVK.Kind, failed.Key.Name, err)
		t.plan = slices.Delete(slices.Clone(t.plan), index, index+1)
	}
	return nil
}

func (t *trial) is(o *unstructured.Unstructured, of *apply.ObjectResult) bool {
	return o.GetName() == of.Key.Name && o.GroupVersionKind().GroupKind() == of.GVK.GroupKind() &&
		(o.GetNamespace() == of.Key.Namespace || o.GetNamespace() == "")
}

// placed returns a copy of a planned object in the namespace in which the engine creates it.
func (t *trial) placed(o *unstructured.Unstructured) *unstructured.Unstructured {
	out := o.DeepCopy()
	if out.GetNamespace() != "" {
		return out
	}
	if namespaced, err := t.server.admin.IsObjectNamespaced(out); err == nil && namespaced {
		out.SetNamespace(t.namespace())
	}
	return out
}

// get returns the stored object of a planned one.
func (t *trial) get(planned *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	o := t.placed(planned)
	key := client.ObjectKeyFromObject(o)
	out := &unstructured.Unstructured{}
	out.SetGroupVersionKind(o.GroupVersionKind())
	err := t.server.admin.Get(t.ctx, key, out)
	return out, err
}

func nameOf(o *unstructured.Unstructured) string { return o.GetKind() + " " + o.GetName() }

// stored returns the stored objects of the plan by name.
func (t *trial) stored() map[string]map[string]any {
	out := map[string]map[string]any{}
	for _, planned := range t.plan {
		o, err := t.get(planned)
		if err != nil {
			t.report.fault("%s does not exist: %v", nameOf(planned), err)
			continue
		}
		out[nameOf(planned)+" "+planned.GetNamespace()] = o.Object
	}
	return out
}

// same compares the upgraded objects with those of the release that was created from nothing.
func (t *trial) same(fresh map[string]map[string]any) {
	upgraded := t.stored()
	for _, planned := range t.plan {
		name := nameOf(planned) + " " + planned.GetNamespace()
		want, is := lasting(fresh[name]), lasting(upgraded[name])
		if fresh[name] == nil || upgraded[name] == nil {
			continue
		}
		for _, at := range differences(stated(plannedContent(planned), want), stated(plannedContent(planned), is), nil) {
			t.report.fault("after the upgrade %s differs from a new one in %s", nameOf(planned), at)
		}
		for _, at := range differences(want, is, nil) {
			t.report.leftBehind(planned.GetKind(), "after an upgrade", at)
		}
	}
}

// volatile are fields that differ between two equal objects.
var volatile = []string{ //nolint:gochecknoglobals // a table
	"metadata.uid", "metadata.resourceVersion", "metadata.generation", "metadata.creationTimestamp", "metadata.managedFields",
	"metadata.ownerReferences", "status", "spec.clusterIP", "spec.clusterIPs", "spec.healthCheckNodePort",
}

// lasting returns an object without what differs between two equal objects.
func lasting(o map[string]any) map[string]any {
	out := runtime.DeepCopyJSON(o)
	for _, field := range volatile {
		unstructured.RemoveNestedField(out, strings.Split(field, ".")...)
	}
	labels, _, _ := unstructured.NestedMap(out, "metadata", "labels")
	delete(labels, apply.PartOfLabel)
	if ports, _, _ := unstructured.NestedSlice(out, "spec", "ports"); out["kind"] == "Service" && len(ports) > 0 {
		for i := range ports {
			port, _ := ports[i].(map[string]any)
			delete(port, "nodePort")
		}
		_ = unstructured.SetNestedSlice(out, ports, "spec", "ports")
	}
	return out
}

// remove deletes the owner. Everything that its plans created must be deleted, and nothing else.
func (t *trial) remove(before map[object]*metav1.PartialObjectMetadata) error {
	if err := t.server.admin.Delete(t.ctx, t.owner); err != nil {
		return err
	}
	limited, cancel := context.WithTimeout(t.ctx, patience)
	defer cancel()
	finalized := false
	var result apply.Result
	for !finalized && limited.Err() == nil {
		var sent []string
		var err error
		if result, sent, err = t.pass(); apierrors.IsNotFound(err) {
			finalized = true
			break
		}
		if err == nil {
			err = t.server.collect(t.ctx)
		}
		if err != nil {
			return err
		}
		t.clock.Step(max(result.RequeueAfter, time.Second))
		if len(sent) == 0 {
			select {
			case <-t.ctx.Done():
			case <-time.After(pause):
			}
		}
	}
	if !finalized {
		t.report.fault("the owner is not deleted: %v, %v; %s", result.Err(), result.PruneBlocked, t.server.terminating(t.ctx))
	}
	left, missing, err := t.server.settle(t.ctx, before)
	if err != nil {
		return err
	}
	if len(left) > 0 {
		t.report.fault("left on the server: %v", left)
	}
	if len(missing) > 0 {
		t.report.fault("objects of others were deleted: %v", missing)
	}
	t.report.Removals++
	return nil
}
