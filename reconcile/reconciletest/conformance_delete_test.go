package reconciletest_test

import (
	"context"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

func deleteSequences() []conformance {
	held := []difference{{
		fake: "remove the deletion timestamp by a patch: error; same version, being deleted with grace 0",
		real: "remove the deletion timestamp by a patch: ok; same version, being deleted with grace 0",
	}}
	return []conformance{
		{name: "preconditions of a delete", sequence: func(ctx context.Context, w *recorder) {
			u := w.object(configMap)
			remove := func(what string, opts ...client.DeleteOption) {
				w.does(ctx, what, u, func() error { return w.Delete(ctx, u.DeepCopy(), opts...) })
			}
			remove("delete a missing object")
			live := w.does(ctx, "create", u, func() error { return w.Create(ctx, u.DeepCopy(), writer) })
			uid, wrong := live.GetUID(), types.UID("another")
			old := live.GetResourceVersion()
			live = w.does(ctx, "update", u, func() error { return w.Update(ctx, set(live, "w", "data", "k"), writer) })
			version := live.GetResourceVersion()
			remove("delete with another UID", client.Preconditions{UID: &wrong})
			remove("delete with an old version", client.Preconditions{UID: &uid, ResourceVersion: &old})
			remove("delete with UID and version", client.Preconditions{UID: &uid, ResourceVersion: &version})
			w.does(ctx, "create again", u, func() error { return w.Create(ctx, u.DeepCopy(), writer) })
			w.log("another UID: %t", w.live(ctx, u).GetUID() != uid)
			remove("delete with the previous UID", client.Preconditions{UID: &uid})
			remove("delete")
		}},
		{name: "finalizers", known: held, sequence: func(ctx context.Context, w *recorder) { finalized(ctx, w, w.object(configMap)) }},
		{name: "finalizers of an object with a generation", known: held, sequence: func(ctx context.Context, w *recorder) { finalized(ctx, w, w.object(aWidget)) }},
		{name: "delete all", sequence: func(ctx context.Context, w *recorder) {
			u := w.object(aWidget)
			u.SetLabels(map[string]string{"l": "x"})
			w.does(ctx, "create", u, func() error { return w.Create(ctx, u.DeepCopy(), writer) })
			other := set(w.object(aWidget), "b", "metadata", "name")
			w.does(ctx, "create", other, func() error { return w.Create(ctx, other.DeepCopy(), writer) })
			w.does(ctx, "delete all of them", u, func() error {
				return w.DeleteAllOf(ctx, w.object(aWidget), client.InNamespace(w.namespace), client.MatchingLabels{"l": "x"})
			})
			w.does(ctx, "the other object", other, func() error { return nil })
		}},
		{name: "propagation", known: []difference{
			// The garbage collector removes this finalizer after the dependents are deleted.
			{
				fake: "delete in the foreground: ok; deleted",
				real: "delete in the foreground: ok; new version, generation +1, being deleted with grace 0",
			},
			{fake: "no value", real: `metadata.finalizers is ["foregroundDeletion"]`},
		}, sequence: func(ctx context.Context, w *recorder) {
			u := w.object(aWidget)
			w.does(ctx, "create", u, func() error { return w.Create(ctx, u.DeepCopy(), writer) })
			w.does(ctx, "delete in the background", u, func() error {
				return w.Delete(ctx, u.DeepCopy(), client.PropagationPolicy(metav1.DeletePropagationBackground))
			})
			w.does(ctx, "create", u, func() error { return w.Create(ctx, u.DeepCopy(), writer) })
			w.does(ctx, "delete in the foreground", u, func() error {
				return w.Delete(ctx, u.DeepCopy(), client.PropagationPolicy(metav1.DeletePropagationForeground))
			})
			w.shows(ctx, u, "metadata", "finalizers")
		}},
	}
}

// finalized deletes an object with finalizers.
func finalized(ctx context.Context, w *recorder, u *unstructured.Unstructured) {
	u.SetFinalizers([]string{"test/a", "test/b"})
	w.does(ctx, "create", u, func() error { return w.Create(ctx, u.DeepCopy(), writer) })
	w.does(ctx, "delete", u, func() error { return w.Delete(ctx, u.DeepCopy()) })
	w.does(ctx, "delete again", u, func() error { return w.Delete(ctx, u.DeepCopy()) })
	w.does(ctx, "create during deletion", u, func() error { return w.Create(ctx, u.DeepCopy(), writer) })
	finalizers := func(what string, names ...string) {
		w.does(ctx, what, u, func() error {
			live := w.live(ctx, u)
			live.SetFinalizers(names)
			return w.Update(ctx, live, writer)
		})
	}
	w.does(ctx, "add a label", u, func() error {
		return w.Patch(ctx, u.DeepCopy(), client.RawPatch(types.MergePatchType, []byte(`{"metadata":{"labels":{"x":"y"}}}`)), writer)
	})
	w.does(ctx, "remove the deletion timestamp by a patch", u, func() error {
		return w.Patch(ctx, u.DeepCopy(), client.RawPatch(types.MergePatchType, []byte(`{"metadata":{"deletionTimestamp":null}}`)), writer)
	})
	w.does(ctx, "remove the deletion timestamp", u, func() error {
		live := w.live(ctx, u)
		live.SetDeletionTimestamp(nil)
		live.SetDeletionGracePeriodSeconds(nil)
		return w.Update(ctx, live, writer)
	})
	finalizers("add a finalizer", "test/a", "test/b", "test/c")
	finalizers("remove one", "test/b")
	finalizers("remove the last one")
}
