package reconciletest

import (
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
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

// claimsReady reads a status as kstatus does: it speaks of the current generation, and the condition Ready, if there is
// one, is True.
func claimsReady(u *unstructured.Unstructured) bool {
	status, _ := u.Object["status"].(map[string]any)
	observed, has := status["observedGeneration"].(int64)
	if has && observed != u.GetGeneration() {
		return false
	}
	for _, condition := range objects.Maps(status, "conditions") {
		if condition["type"] != "Ready" {
			continue
		}
		of, said := condition["observedGeneration"].(int64)
		return condition["status"] == "True" && (!said || of == u.GetGeneration())
	}
	return has
}

// waiting reports whether a workload is not ready: who waits for it may fail until then.
func (w *world) waiting() bool {
	for _, gvk := range workloads() {
		items, err := w.list(gvk)
		if err != nil {
			continue
		}
		for _, u := range items {
			if unready(u) != "" {
				return true
			}
		}
	}
	return false
}
