package view_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/internal/view"
)

// TestForms checks that all representations of a kind contain the same objects.
func TestForms(t *testing.T) {
	t.Parallel()
	v := view.New(newCluster(t, nil, "a/x", "a/y"), cache.Options{})
	loose, partial := &unstructured.UnstructuredList{}, &metav1.PartialObjectMetadataList{}
	loose.SetGroupVersionKind(schema.GroupVersionKind{Version: "v1", Kind: "ConfigMapList"})
	partial.SetGroupVersionKind(loose.GroupVersionKind())
	for _, list := range []client.ObjectList{loose, partial} {
		if err := v.List(t.Context(), list, client.InNamespace("a")); err != nil {
			t.Fatal(err)
		}
	}
	if len(loose.Items) != 2 || len(partial.Items) != 2 || loose.Items[1].GetName() != "y" || partial.Items[1].Name != "y" {
		t.Errorf("loose: %v, partial: %v", loose.Items, partial.Items)
	}
	one := &unstructured.Unstructured{}
	one.SetGroupVersionKind(configMaps)
	if err := v.Get(t.Context(), client.ObjectKey{Namespace: "a", Name: "x"}, one); err != nil || one.Object["data"] == nil {
		t.Errorf("%v, %v", one, err)
	}
}

// TestInformers checks that each representation of a kind has its own informer, and that a removed handler receives no events.
func TestInformers(t *testing.T) {
	t.Parallel()
	w := newCluster(t, nil, "a/x")
	v, ctx := view.New(w, cache.Options{}), t.Context()
	typed, metadata, loose := &events{}, &events{}, &events{}
	partial, anything := &metav1.PartialObjectMetadata{}, &unstructured.Unstructured{}
	partial.SetGroupVersionKind(configMaps)
	anything.SetGroupVersionKind(configMaps)
	_, registration := handle(t, v, &corev1.ConfigMap{}, typed)
	handle(t, v, partial, metadata)
	handle(t, v, anything, loose)
	for _, received := range []*events{typed, metadata, loose} {
		if n := len(received.take()); n != 1 {
			t.Errorf("%d initial events, want one", n)
		}
	}
	same, err := v.GetInformerForKind(ctx, configMaps)
	if err != nil {
		t.Fatal(err)
	}
	if err := same.RemoveEventHandler(registration); err != nil {
		t.Fatal(err)
	}
	if err := v.RemoveInformer(ctx, partial); err != nil {
		t.Fatal(err)
	}
	paint(t, w, "a/x", "green")
	sync(t, v)
	typed.want(t)
	metadata.want(t)
	loose.want(t, "update x, x")
	if err := same.AddIndexers(nil); err == nil {
		t.Error("AddIndexers succeeds without a reader")
	}
	if !same.HasSynced() || same.IsStopped() || !v.WaitForCacheSync(ctx) || !registration.HasSynced() {
		t.Error("a view that lists on demand is not synced")
	}
	if err := w.Withdraw(ctx, schema.GroupKind{Kind: "Secret"}); err != nil {
		t.Fatal(err)
	}
	if _, err := v.GetInformer(ctx, &corev1.Secret{}); err == nil {
		t.Error("a kind that is not installed has an informer")
	}
	if diff := cmp.Diff([]string{"ConfigMap"}, v.Names()); diff != "" {
		t.Errorf("kinds (-want +got):\n%s", diff)
	}
}
