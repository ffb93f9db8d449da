package drift

import (
	"context"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/internal/baseline"
	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/internal/cluster"
	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/internal/description"
	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/internal/finding"
	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/internal/objects"
	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/internal/transport"
)

const hold = transport.Hold

// owners returns the stored owners.
func (d *disturbance) owners() []baseline.Target {
	var out []baseline.Target
	for _, owner := range d.checker.System.Owners {
		obj := owner.DeepCopyObject().(client.Object) //nolint:forcetypeassert // a deep copy has the type of its original
		if gvk, err := d.run.Cluster.Place(obj); err == nil {
			out = append(out, baseline.Target{GVK: gvk, Key: client.ObjectKeyFromObject(obj)})
		}
	}
	return out
}

// update updates the stored object.
func (d *disturbance) update(ctx context.Context, t baseline.Target, change func(u *unstructured.Unstructured)) bool {
	u := d.object(t)
	if u == nil {
		return false
	}
	change(u)
	return d.run.Cluster.Client.Update(ctx, u) == nil
}

// held deletes the owners while another client's finalizer holds them: the finalizer must remain, and no child may be created, also if
// the children are deleted first.
func (d *disturbance) held(ctx context.Context, finalizer string) {
	owners := d.owners()
	for _, t := range owners {
		if !d.update(ctx, t, func(u *unstructured.Unstructured) {
			u.SetFinalizers(append(u.GetFinalizers(), finalizer))
			u.SetAnnotations(merged(u.GetAnnotations(), note))
		}) {
			return
		}
	}
	if !d.settle(ctx) {
		return
	}
	if _, steady := d.writes(ctx); !steady || !d.keeps(owners, finalizer) {
		return
	}
	handled := false // the operator has its own finalizer
	for _, t := range owners {
		u := d.object(t)
		handled = handled || len(u.GetFinalizers()) > 1
		if err := d.run.Cluster.Client.Delete(ctx, u); err != nil {
			return
		}
	}
	if !d.settle(ctx) || !d.keeps(owners, finalizer) {
		return
	}
	if finalizer == metav1.FinalizerDeleteDependents && !d.childless(ctx, owners, handled) {
		return
	}
	for _, t := range owners {
		d.update(ctx, t, func(u *unstructured.Unstructured) {
			u.SetFinalizers(slices.DeleteFunc(u.GetFinalizers(), func(f string) bool { return f == finalizer }))
		})
	}
	if d.settle(ctx) {
		d.checker.Compare(d.name, description.StepDelete, d.state())
	}
}

func merged(annotations map[string]string, key string) map[string]string {
	if annotations == nil {
		annotations = map[string]string{}
	}
	annotations[key] = "of another client"
	return annotations
}

// keeps checks that the owners keep another client's marks.
func (d *disturbance) keeps(owners []baseline.Target, finalizer string) bool {
	for _, t := range owners {
		u := d.object(t)
		if u == nil || !slices.Contains(u.GetFinalizers(), finalizer) {
			d.checker.Find(d.name, finding.CheckForeign, "the finalizer of another client on %s is removed", t)
			return false
		}
		if u.GetAnnotations()[note] == "" {
			d.checker.Find(d.name, finding.CheckForeign, "the annotation of another client on %s is removed", t)
			return false
		}
	}
	return true
}

// childless deletes the children of owners that are being deleted, as the garbage collector does in the foreground: none may be
// recreated. That is a finding if the operator has a finalizer; otherwise it is a note, because the garbage collector retries and nearly
// always finishes.
func (d *disturbance) childless(ctx context.Context, owners []baseline.Target, handled bool) bool {
	of := map[types.UID]bool{}
	for _, t := range owners {
		of[d.object(t).GetUID()] = true
	}
	for _, again := range []bool{false, true} {
		all, err := d.run.Cluster.All()
		if err != nil {
			return false
		}
		for gvk, items := range all {
			for _, key := range objects.SortedKeys(items) {
				u := items[key]
				if !slices.ContainsFunc(u.GetOwnerReferences(), func(ref metav1.OwnerReference) bool { return of[ref.UID] }) ||
					u.GetDeletionTimestamp() != nil {
					continue
				}
				const text = "%s is recreated although its owner is being deleted in the foreground, which waits until all children are deleted"
				switch {
				case again && handled:
					d.checker.Find(d.name, finding.CheckOrphan, text, objects.Name(gvk, key))
					return false
				case again:
					d.checker.Note("to check: "+text, objects.Name(gvk, key))
					return false
				}
				if d.run.Cluster.Client.Delete(ctx, u.DeepCopy()) != nil {
					return false
				}
			}
		}
		if !d.settle(ctx) {
			return false
		}
		if _, steady := d.writes(ctx); !steady {
			return false
		}
	}
	return true
}

// namespaceDeleted deletes the namespace with the owners and all objects in it; new objects are rejected. The deletion of the owners must
// complete.
func (d *disturbance) namespaceDeleted(ctx context.Context) {
	d.run.Last.Wire.Arm(&transport.Injection{Creates: true, Fault: transport.FaultTerminating, Lasting: transport.Forever})
	for _, t := range slices.Concat(d.owners(), d.checker.Children()) {
		if u := d.object(t); u != nil && t.Key.Namespace == description.TestNamespace && d.run.Cluster.Client.Delete(ctx, u) != nil {
			return
		}
	}
	if !d.settle(ctx) {
		return
	}
	for _, t := range d.owners() {
		if u := d.object(t); u != nil && t.Key.Namespace == description.TestNamespace {
			d.checker.Find(d.name, finding.CheckOrphan, "%s is not deleted with its namespace, in which nothing can be created: "+
				"its finalizers %s remain", t, strings.Join(u.GetFinalizers(), ", "))
		}
	}
}

// terminating deletes a child with another client's finalizer: meanwhile the operator must not retry too often, and once the child is
// gone it must be recreated.
func (d *disturbance) terminating(ctx context.Context, t baseline.Target) {
	before := d.state()
	if !d.update(ctx, t, func(u *unstructured.Unstructured) { u.SetFinalizers([]string{hold}) }) || !d.settle(ctx) {
		return
	}
	u := d.object(t)
	if u == nil || d.run.Cluster.Client.Delete(ctx, u) != nil || !d.settle(ctx) {
		return
	}
	if u = d.object(t); u == nil || u.GetDeletionTimestamp() == nil || !slices.Contains(u.GetFinalizers(), hold) {
		d.checker.Find(d.name, finding.CheckForeign, "the finalizer of another client on %s is removed", t)
		return
	}
	if !d.update(ctx, t, func(u *unstructured.Unstructured) { u.SetFinalizers(nil) }) || !d.settle(ctx) {
		return
	}
	if d.notTriggered(ctx, "the end of "+t.String()) {
		return
	}
	if d.object(t) == nil {
		d.checker.Find(d.name, finding.CheckDrift, "%s was deleted slowly by another client and is not recreated", t)
		return
	}
	d.same(before)
}

// taken replaces a child by another controller's object: it must not be changed.
func (d *disturbance) taken(ctx context.Context, t baseline.Target) {
	old := d.object(t)
	if old == nil || metav1.GetControllerOf(old) == nil || t.Key.Namespace == "" {
		return
	}
	otherController := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": "ConfigMap"}}
	otherController.SetNamespace(t.Key.Namespace)
	otherController.SetName("stranger")
	if d.run.Cluster.Client.Create(ctx, otherController) != nil {
		return
	}
	yes := true
	theirs := old.DeepCopy()
	theirs.Object["metadata"] = map[string]any{"name": t.Key.Name, "namespace": t.Key.Namespace}
	theirs.SetOwnerReferences([]metav1.OwnerReference{{
		APIVersion: "v1", Kind: "ConfigMap", Name: otherController.GetName(), UID: otherController.GetUID(), Controller: &yes,
	}})
	if d.run.Cluster.Client.Delete(ctx, old) != nil || d.object(t) != nil || d.run.Cluster.Client.Create(ctx, theirs) != nil {
		return
	}
	paths, _ := objects.Leaves(t.Sent)
	for _, path := range paths {
		if !identifies(path) {
			d.overwrite(ctx, t, path)
		}
	}
	theirs = d.object(t)
	if theirs == nil || !d.settle(ctx) {
		return
	}
	if _, steady := d.writes(ctx); !steady || !d.untouched(t, theirs) {
		return
	}
	d.relied(t, metav1.GetControllerOf(old))
	if d.run.Cluster.Perform(ctx, description.StepDelete, false) == nil && d.settle(ctx) {
		d.untouched(t, theirs)
	}
}

// relied notes an owner that reports ready while its workload belongs to another controller.
func (d *disturbance) relied(t baseline.Target, owner *metav1.OwnerReference) {
	ready, err := d.run.Cluster.Claims()
	name := objects.Name(schema.FromAPIVersionAndKind(owner.APIVersion, owner.Kind), types.NamespacedName{Namespace: t.Key.Namespace, Name: owner.Name})
	if err == nil && slices.Contains(cluster.Workloads(), t.GVK) && slices.Contains(ready, name) {
		d.checker.Note("to check: %s reports ready although %s belongs to another controller", name, t)
	}
}

// untouched checks that another controller's object is unchanged.
func (d *disturbance) untouched(t baseline.Target, theirs *unstructured.Unstructured) bool {
	now := d.object(t)
	ours := now == nil || now.GetUID() != theirs.GetUID() || now.GetDeletionTimestamp() != nil
	if !ours {
		ref := metav1.GetControllerOf(now)
		ours = ref == nil || ref.Name != "stranger" || !objects.Equal(objects.Without(now.Object, "metadata", "status"), objects.Without(theirs.Object, "metadata", "status"))
	}
	if ours {
		d.checker.Find(d.name, finding.CheckForeign, "%s belongs to another controller, and is changed or deleted nevertheless", t)
	}
	return !ours
}
