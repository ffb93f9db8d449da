package shardclaims_test

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"github.com/reconcilekit/reconcilekit/reconcile/controller/internal/shardclaims"
	"github.com/reconcilekit/reconcilekit/reconcile/controller/internal/shards"
)

const annotation = shards.AnnotationPrefix + "shop"

// reader is that of the process of a shard.
func reader(c client.Client, shard string) *shardclaims.Reader {
	return &shardclaims.Reader{
		Reader: c, Part: shards.PartOf(&shards.Shard{Name: shard, Label: "shard"}), Live: c, Writer: c,
		Kind: corev1.SchemeGroupVersion.WithKind("ConfigMap"), Annotation: annotation, Manager: "shop:shard",
	}
}

// TestHandOver: an owner is found by one process at a time, also while it comes to another shard, and its claim says by which.
func TestHandOver(t *testing.T) {
	t.Parallel()
	owner := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "web", UID: "u", Labels: map[string]string{"shard": "a"}}}
	key := client.ObjectKeyFromObject(owner)
	c := fake.NewClientBuilder().WithObjects(owner).Build()
	a, b := reader(c, "a"), reader(c, "b")
	step := func(title string, r *shardclaims.Reader, found bool, holder string) {
		t.Helper()
		err := r.Get(t.Context(), key, &corev1.ConfigMap{})
		if found != (err == nil) || !found && !apierrors.IsNotFound(err) {
			t.Errorf("%s: found %t (%v), want %t", title, err == nil, err, found)
		}
		if err := c.Get(t.Context(), key, owner); err != nil {
			t.Fatal(err)
		}
		if got := owner.Annotations[annotation]; got != holder {
			t.Errorf("%s: shard %q has claimed it, want %q", title, got, holder)
		}
	}
	step("not of this shard", b, false, "")
	step("claims it", a, true, "a")
	step("has it", a, true, "a")
	owner.Labels["shard"] = "b"
	if err := c.Update(t.Context(), owner); err != nil {
		t.Fatal(err)
	}
	step("waits for it", b, false, "a")
	step("gives it back", a, false, "")
	step("gets it", b, true, "b")
	if err := c.Delete(t.Context(), owner); err != nil {
		t.Fatal(err)
	}
	if err := b.Get(t.Context(), key, &corev1.ConfigMap{}); !apierrors.IsNotFound(err) {
		t.Errorf("deleted: got %v", err)
	}
}

// TestGiveBackUnseen: an owner that the cache of the shard has no more is given back if it has come to another shard.
func TestGiveBackUnseen(t *testing.T) {
	t.Parallel()
	owner := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "web", UID: "u", Labels: map[string]string{"shard": "a"}}}
	key := client.ObjectKeyFromObject(owner)
	c := fake.NewClientBuilder().WithObjects(owner).Build()
	a := reader(c, "a")
	if err := a.Get(t.Context(), key, owner); err != nil {
		t.Fatal(err)
	}
	if err := c.Get(t.Context(), key, owner); err != nil {
		t.Fatal(err)
	}
	a.Reader = fake.NewClientBuilder().Build()
	owner.Labels["shard"] = "b"
	if err := c.Update(t.Context(), owner); err != nil {
		t.Fatal(err)
	}
	if err := a.Get(t.Context(), key, &corev1.ConfigMap{}); !apierrors.IsNotFound(err) {
		t.Errorf("got %v, want not found", err)
	}
	if err := c.Get(t.Context(), key, owner); err != nil {
		t.Fatal(err)
	}
	if holder := owner.Annotations[annotation]; holder != "" {
		t.Errorf("shard %q has claimed it still", holder)
	}
}
