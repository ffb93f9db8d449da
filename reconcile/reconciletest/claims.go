package reconciletest

import (
	"fmt"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"

	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/internal/objects"
)

// ownerKinds are the kinds of the system's owners.
func (w *world) ownerKinds() map[schema.GroupKind]bool {
	out := map[schema.GroupKind]bool{}
	for _, owner := range w.system.Owners {
		if gvk, err := apiutil.GVKForObject(owner, w.scheme); err == nil {
			out[gvk.GroupKind()] = true
		}
	}
	return out
}

// claims are the owners that call themselves ready by a condition, by name.
func (w *world) claims() ([]string, error) {
	all, err := w.all()
	if err != nil {
		return nil, err
	}
	kinds := w.ownerKinds()
	var out []string
	for gvk, items := range all {
		for key, u := range items {
			if kinds[gvk.GroupKind()] && saysReady(u) {
				out = append(out, objects.Name(gvk, key))
			}
		}
	}
	slices.Sort(out)
	return out, nil
}

// saysReady reports a condition Ready that is True and speaks of the current spec.
func saysReady(u *unstructured.Unstructured) bool {
	status, _ := u.Object["status"].(map[string]any)
	return claimsReady(u) && slices.ContainsFunc(objects.Maps(status, "conditions"), func(c map[string]any) bool { return c["type"] == "Ready" })
}

// tooEarly returns why an owner that calls itself ready after a pass should not: a workload of its own is not, and the cache
// has shown that to the pass. A pass in which a request fails may have wanted to say so.
func (i *instance) tooEarly(owner types.NamespacedName, sent int) string {
	if i.world.fake == nil || slices.ContainsFunc(i.wire.calls()[sent:], func(c call) bool { return c.err != nil }) {
		return ""
	}
	for _, gvk := range i.world.kinds() {
		if !i.world.ownerKinds()[gvk.GroupKind()] {
			continue
		}
		items, err := i.world.list(gvk)
		if u := items[owner]; err == nil && u != nil && u.GetDeletionTimestamp() == nil && saysReady(u) {
			if why := i.unreadyChild(u.GetUID()); why != "" {
				return objects.Name(gvk, owner) + " calls itself ready while " + why
			}
		}
	}
	return ""
}

// unreadyChild is a workload of an owner that is not ready, as the cache shows it and as it is.
func (i *instance) unreadyChild(owner types.UID) string {
	i.view.mu.Lock()
	defer i.view.mu.Unlock()
	for _, gvk := range workloads() {
		items, err := i.world.list(gvk)
		k := i.view.kinds[gvk]
		if err != nil || k == nil {
			continue
		}
		for _, key := range objects.SortedKeys(items) {
			u := items[key]
			ref := metav1.GetControllerOf(u)
			if ref == nil || ref.UID != owner || u.GetDeletionTimestamp() != nil || version(k.shown[key]) != version(u) {
				continue
			}
			if why := unready(u); why != "" {
				return fmt.Sprintf("%s is not: %s", objects.Name(gvk, key), why)
			}
		}
	}
	return ""
}

// workloads are the kinds whose readiness is read from numbers.
func workloads() []schema.GroupVersionKind {
	apps := schema.GroupVersion{Group: "apps", Version: "v1"}
	return []schema.GroupVersionKind{apps.WithKind("Deployment"), apps.WithKind("StatefulSet"), apps.WithKind("DaemonSet")}
}

// unready returns why a workload is not ready, as kubectl rollout status would, "" when it is.
func unready(u *unstructured.Unstructured) string {
	observed, _, _ := unstructured.NestedInt64(u.Object, "status", "observedGeneration")
	if observed < u.GetGeneration() {
		return fmt.Sprintf("its status is about generation %d, the spec has %d", observed, u.GetGeneration())
	}
	if u.GetKind() == "DaemonSet" {
		return fewer(u, "numberReady", "status", "desiredNumberScheduled")
	}
	return fewer(u, "readyReplicas", "spec", "replicas")
}

func fewer(u *unstructured.Unstructured, counted string, wanted ...string) string {
	got, _, _ := unstructured.NestedInt64(u.Object, "status", counted)
	want, _, _ := unstructured.NestedInt64(u.Object, wanted...)
	if got < want {
		return fmt.Sprintf("%s is %d of %d", counted, got, want)
	}
	return ""
}
