package shardclaims_test

import (
	"context"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/reconcilekit/reconcilekit/reconcile/controller/internal/shardclaims"
	"github.com/reconcilekit/reconcilekit/reconcile/controller/internal/shards"
)

const annotation = shards.AnnotationPrefix + "shop"

// What a process gets that asks for an owner.
const (
	found   = metav1.StatusReasonUnknown
	notOurs = metav1.StatusReasonNotFound
	unseen  = metav1.StatusReasonConflict // claimed, but the cache does not show it
)

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
	step := func(title string, r *shardclaims.Reader, want metav1.StatusReason, holder string) {
		t.Helper()
		if err := r.Get(t.Context(), key, &corev1.ConfigMap{}); apierrors.ReasonForError(err) != want {
			t.Errorf("%s: got %v, want the reason %q", title, err, want)
		}
		if err := c.Get(t.Context(), key, owner); err != nil {
			t.Fatal(err)
		}
		if got := owner.Annotations[annotation]; got != holder {
			t.Errorf("%s: shard %q has claimed it, want %q", title, got, holder)
		}
	}
	step("not of this shard", b, notOurs, "")
	step("claims it", a, unseen, "a")
	step("the cache shows the claim", a, found, "a")
	owner.Labels["shard"] = "b"
	if err := c.Update(t.Context(), owner); err != nil {
		t.Fatal(err)
	}
	step("waits for it", b, notOurs, "a")
	step("gives it back", a, notOurs, "")
	step("claims it, too", b, unseen, "b")
	step("gets it", b, found, "b")
	again := reader(c, "b")
	step("asks after a restart whether it has it still, which is a write here", again, unseen, "b")
	step("has it after a restart", again, found, "b")
	if err := c.Delete(t.Context(), owner); err != nil {
		t.Fatal(err)
	}
	if err := b.Get(t.Context(), key, &corev1.ConfigMap{}); !apierrors.IsNotFound(err) {
		t.Errorf("deleted: got %v", err)
	}
}

// TestClaimsOfOthers: who writes claims by hand stops a process, or makes it claim again, and what it has claimed before counts no more.
func TestClaimsOfOthers(t *testing.T) {
	t.Parallel()
	owner := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "web", UID: "u", Labels: map[string]string{"shard": "a"}}}
	key := client.ObjectKeyFromObject(owner)
	claims := 0
	c := fake.NewClientBuilder().WithObjects(owner).WithInterceptorFuncs(interceptor.Funcs{
		Patch: func(ctx context.Context, c client.WithWatch, o client.Object, patch client.Patch, opts ...client.PatchOption) error {
			claims++
			return c.Patch(ctx, o, patch, opts...)
		},
	}).Build()
	a := reader(c, "a")
	for _, step := range []struct {
		title  string
		holder string // written by hand, empty for no claim
		want   metav1.StatusReason
		claims int
	}{
		{"first claim", "", unseen, 1},
		{"nobody has changed it", "a", found, 1},
		{"taken away", "", unseen, 2},
		{"shown again", "a", found, 2},
		{"given to another shard", "b", notOurs, 2},
		{"written as if it were the own one, which is asked for with a write here", "a", unseen, 3},
		{"nobody has changed that", "a", found, 3},
	} {
		if err := c.Get(t.Context(), key, owner); err != nil {
			t.Fatal(err)
		}
		if owner.Annotations = map[string]string{annotation: step.holder}; step.holder == "" {
			owner.Annotations = nil
		}
		if err := c.Update(t.Context(), owner); err != nil {
			t.Fatal(err)
		}
		if err := a.Get(t.Context(), key, &corev1.ConfigMap{}); apierrors.ReasonForError(err) != step.want {
			t.Errorf("%s: got %v, want the reason %q", step.title, err, step.want)
		}
		if claims != step.claims {
			t.Errorf("%s: %d claims were written, want %d", step.title, claims, step.claims)
		}
	}
}

// TestStaleOwner: a process whose cache is behind claims nothing by it: neither what another shard has meanwhile, nor a new owner of the name.
func TestStaleOwner(t *testing.T) {
	t.Parallel()
	owner := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "web", UID: "u", Labels: map[string]string{"shard": "a"}}}
	key := client.ObjectKeyFromObject(owner)
	c := fake.NewClientBuilder().WithObjects(owner).Build()
	if err := c.Get(t.Context(), key, owner); err != nil {
		t.Fatal(err)
	}
	behind := fake.NewClientBuilder().WithObjects(owner.DeepCopy()).Build()
	owner.Labels["shard"] = "b"
	if err := c.Update(t.Context(), owner); err != nil {
		t.Fatal(err)
	}
	if err := reader(c, "b").Get(t.Context(), key, &corev1.ConfigMap{}); !apierrors.IsConflict(err) {
		t.Fatal(err)
	}
	a := reader(c, "a")
	a.Reader = behind
	err := a.Get(t.Context(), key, &corev1.ConfigMap{})
	if unclaimed := c.Get(t.Context(), key, owner); unclaimed != nil {
		t.Fatal(unclaimed)
	}
	if !apierrors.IsConflict(err) || owner.Annotations[annotation] != "b" {
		t.Errorf("an owner that shard b has claimed: got %v, and it is that of shard %q", err, owner.Annotations[annotation])
	}
	if err := c.Delete(t.Context(), owner); err != nil {
		t.Fatal(err)
	}
	again := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "web", UID: "v", Labels: map[string]string{"shard": "a"}}}
	if err := c.Create(t.Context(), again); err != nil {
		t.Fatal(err)
	}
	err = a.Get(t.Context(), key, &corev1.ConfigMap{})
	if unclaimed := c.Get(t.Context(), key, again); unclaimed != nil {
		t.Fatal(unclaimed)
	}
	if !apierrors.IsConflict(err) || len(again.Annotations) > 0 {
		t.Errorf("a new owner under the name: got %v with the annotations %v, want a conflict and none", err, again.Annotations)
	}
}

// TestGiveBackUnseen: an owner that the cache of the shard has no more is given back if it has come to another shard.
func TestGiveBackUnseen(t *testing.T) {
	t.Parallel()
	owner := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "web", UID: "u", Labels: map[string]string{"shard": "a"}}}
	key := client.ObjectKeyFromObject(owner)
	c := fake.NewClientBuilder().WithObjects(owner).Build()
	a := reader(c, "a")
	if err := a.Get(t.Context(), key, &corev1.ConfigMap{}); !apierrors.IsConflict(err) {
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
