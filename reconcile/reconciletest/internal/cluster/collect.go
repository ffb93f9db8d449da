package cluster

import (
	"context"
	"fmt"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/internal/objects"
)

// alive are the existing objects for owner references: by UID, with their namespace.
type alive map[types.UID]string

// owns reports whether an owner reference is valid. An owner in another namespace does not count, and neither does a namespaced owner of
// a cluster-scoped object, which the garbage collector cannot find; such an object remains forever.
func (a alive) owns(ref metav1.OwnerReference, u *unstructured.Unstructured) bool {
	namespace, there := a[ref.UID]
	return there && (namespace == "" || namespace == u.GetNamespace())
}

// collect deletes the objects without a remaining owner, as Kubernetes' garbage collector does in the background.
func (w *Cluster) collect(ctx context.Context) error {
	all, err := w.All()
	if err != nil {
		return err
	}
	there := alive{}
	for _, items := range all {
		for key, u := range items {
			there[u.GetUID()] = key.Namespace
		}
	}
	for _, gvk := range w.Kinds() {
		items := all[gvk]
		for _, key := range objects.SortedKeys(items) {
			u := items[key]
			references := u.GetOwnerReferences()
			orphan := len(references) > 0 && u.GetDeletionTimestamp() == nil &&
				!slices.ContainsFunc(references, func(r metav1.OwnerReference) bool {
					return there.owns(r, u) || key.Namespace == "" && w.isNamespaced(r)
				})
			if !orphan {
				continue
			}
			if err := w.erase(ctx, u); err != nil {
				return fmt.Errorf("collect %s: %w", objects.Name(gvk, key), err)
			}
		}
	}
	return nil
}

// isNamespaced reports whether the kind of a reference is namespaced.
func (w *Cluster) isNamespaced(ref metav1.OwnerReference) bool {
	gv, err := schema.ParseGroupVersion(ref.APIVersion)
	if err != nil {
		return false
	}
	mapping, err := w.Mapper.RESTMapping(gv.WithKind(ref.Kind).GroupKind(), gv.Version)
	return err == nil && mapping.Scope.Name() == "namespace"
}

func (w *Cluster) erase(ctx context.Context, u *unstructured.Unstructured) error {
	uid := u.GetUID()
	return client.IgnoreNotFound(w.Client.Delete(ctx, u.DeepCopy(), client.Preconditions{UID: &uid}))
}

// cleanUp deletes completed Jobs after their TTL, as their controller does.
func (w *Cluster) cleanUp(ctx context.Context) error {
	jobs := schema.GroupVersionKind{Group: "batch", Version: "v1", Kind: "Job"}
	if !slices.Contains(w.Kinds(), jobs) {
		return nil
	}
	items, err := w.List(jobs)
	if err != nil {
		return err
	}
	for _, key := range objects.SortedKeys(items) {
		u := items[key]
		ttl, limited, _ := unstructured.NestedInt64(u.Object, "spec", "ttlSecondsAfterFinished")
		done, finished := finishedAt(u)
		if !limited || !finished || u.GetDeletionTimestamp() != nil || w.Clock.Now().Before(done.Add(time.Duration(ttl)*time.Second)) {
			continue
		}
		if err := w.erase(ctx, u); err != nil {
			return fmt.Errorf("delete expired %s: %w", objects.Name(jobs, key), err)
		}
	}
	return nil
}

// finishedAt returns the time at which a Job completed or failed: that of its condition, or its creation if the condition has none.
func finishedAt(u *unstructured.Unstructured) (time.Time, bool) {
	status, _ := u.Object["status"].(map[string]any)
	for _, condition := range objects.Maps(status, "conditions") {
		if (condition["type"] != "Complete" && condition["type"] != "Failed") || condition["status"] != "True" {
			continue
		}
		text, _ := condition["lastTransitionTime"].(string)
		if at, err := time.Parse(time.RFC3339, text); err == nil {
			return at, true
		}
		return u.GetCreationTimestamp().Time, true
	}
	return time.Time{}, false
}
