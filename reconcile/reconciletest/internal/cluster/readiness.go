package cluster

import (
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"

	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/internal/objects"
)

// OwnerKinds returns the kinds of the system's owners.
func (w *Cluster) OwnerKinds() map[schema.GroupKind]bool {
	out := map[schema.GroupKind]bool{}
	for _, owner := range w.System.Owners {
		if gvk, err := apiutil.GVKForObject(owner, w.Scheme); err == nil {
			out[gvk.GroupKind()] = true
		}
	}
	return out
}

// Claims returns the owners that report ready by a condition, by name.
func (w *Cluster) Claims() ([]string, error) {
	all, err := w.All()
	if err != nil {
		return nil, err
	}
	kinds := w.OwnerKinds()
	var out []string
	for gvk, items := range all {
		for key, u := range items {
			if kinds[gvk.GroupKind()] && ReportsReady(u) {
				out = append(out, objects.Name(gvk, key))
			}
		}
	}
	slices.Sort(out)
	return out, nil
}

// ReportsReady reports whether the condition Ready is True for the current spec.
func ReportsReady(u *unstructured.Unstructured) bool {
	status, _ := u.Object["status"].(map[string]any)
	return ClaimsReady(u) && slices.ContainsFunc(objects.Maps(status, "conditions"), func(c map[string]any) bool { return c["type"] == "Ready" })
}

// Workloads returns the kinds whose readiness is derived from counts.
func Workloads() []schema.GroupVersionKind {
	apps := schema.GroupVersion{Group: "apps", Version: "v1"}
	return []schema.GroupVersionKind{apps.WithKind("Deployment"), apps.WithKind("StatefulSet"), apps.WithKind("DaemonSet")}
}

// Unready returns the reason why a workload is not ready, as kubectl rollout status would, "" if it is.
func Unready(u *unstructured.Unstructured) string {
	observed, _, _ := unstructured.NestedInt64(u.Object, "status", "observedGeneration")
	if observed < u.GetGeneration() {
		return fmt.Sprintf("its status describes generation %d, the spec has %d", observed, u.GetGeneration())
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

// ClaimsReady evaluates a status as kstatus does: it is of the current generation, and the condition Ready, if it exists, is True.
func ClaimsReady(u *unstructured.Unstructured) bool {
	status, _ := u.Object["status"].(map[string]any)
	observed, has := status["observedGeneration"].(int64)
	if has && observed != u.GetGeneration() {
		return false
	}
	for _, condition := range objects.Maps(status, "conditions") {
		if condition["type"] != "Ready" {
			continue
		}
		of, hasGeneration := condition["observedGeneration"].(int64)
		return condition["status"] == "True" && (!hasGeneration || of == u.GetGeneration())
	}
	return has
}

// Waiting reports whether a workload is not ready; an operator that waits for it may fail until then.
func (w *Cluster) Waiting() bool {
	for _, gvk := range Workloads() {
		items, err := w.List(gvk)
		if err != nil {
			continue
		}
		for _, u := range items {
			if Unready(u) != "" {
				return true
			}
		}
	}
	return false
}
