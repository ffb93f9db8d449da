package external_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/reconcilekit/reconcilekit/reconcile/external"
)

// readersOf returns an edit that adds the name of the owner to a comma-separated list.
func readersOf(c client.Client) *external.Edits[*corev1.ConfigMap] {
	setReader := func(o *corev1.ConfigMap, owner string, wanted bool) {
		if o.Data == nil {
			o.Data = map[string]string{}
		}
		list := slices.DeleteFunc(strings.Fields(o.Data["readers"]), func(word string) bool { return word == owner })
		if has := len(list) < len(strings.Fields(o.Data["readers"])); has == wanted {
			return
		}
		if wanted {
			list = append(list, owner)
		}
		o.Data["readers"] = strings.Join(list, " ")
	}
	return &external.Edits[*corev1.ConfigMap]{
		Client: c, Live: c, FieldManager: "test", New: func() *corev1.ConfigMap { return &corev1.ConfigMap{} },
		Do:   func(o *corev1.ConfigMap, owner string) { setReader(o, owner, true) },
		Undo: func(o *corev1.ConfigMap, owner string) { setReader(o, owner, false) },
	}
}

// TestEdits checks that an edit is written once, is not repeated if it exists, and is reverted even if another writer changed the field.
func TestEdits(t *testing.T) {
	t.Parallel()
	book := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "book"}, Data: map[string]string{"readers": "ann", "title": "x"}}
	writes := 0
	c := fake.NewClientBuilder().WithObjects(book).WithInterceptorFuncs(interceptor.Funcs{
		Patch: func(ctx context.Context, c client.WithWatch, o client.Object, p client.Patch, opts ...client.PatchOption) error {
			writes++
			return c.Patch(ctx, o, p, opts...)
		},
	}).Build()
	edits, key := readersOf(c), external.EditKey(book, "bob")
	expect := func(what string, done bool, readers string, wrote int) {
		t.Helper()
		got := &corev1.ConfigMap{}
		if err := c.Get(t.Context(), client.ObjectKeyFromObject(book), got); err != nil {
			t.Fatal(err)
		}
		found, err := edits.Observe(t.Context(), key)
		if err != nil || found != done || got.Data["readers"] != readers || got.Data["title"] != "x" || writes != wrote {
			t.Errorf("%s: done %t, %v, %d writes; want %t, %q, %d writes (%v)", what, found, got.Data, writes, done, readers, wrote, err)
		}
		book = got
	}
	ensure := func() {
		t.Helper()
		if _, err := edits.Ensure(t.Context(), key, struct{}{}); err != nil {
			t.Error(err)
		}
	}
	expect("before", false, "ann", 0)
	ensure()
	expect("written", true, "ann bob", 1)
	ensure()
	expect("written again", true, "ann bob", 1)
	book.Data["readers"] = "bob cid"
	if err := c.Update(t.Context(), book); err != nil {
		t.Fatal(err)
	}
	expect("written by another client", true, "bob cid", 1)
	for range 2 {
		if err := edits.Remove(t.Context(), key); err != nil {
			t.Error(err)
		}
	}
	expect("removed", false, "cid", 2)
}

// TestEditsErrors checks that an edit creates no object, overwrites no concurrent change, and does not change an object that is being deleted.
func TestEditsErrors(t *testing.T) {
	t.Parallel()
	now := metav1.Now()
	book := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "book"}, Data: map[string]string{"readers": "ann"}}
	leaving := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{
		Namespace: "ns", Name: "leaving", DeletionTimestamp: &now, Finalizers: []string{"example.com/f"},
	}, Data: map[string]string{}}
	c := fake.NewClientBuilder().WithObjects(book, leaving).Build()
	edits := readersOf(c)
	if _, err := edits.Ensure(t.Context(), external.EditKey(leaving, "bob"), struct{}{}); err != nil {
		t.Error(err)
	}
	if done, err := edits.Observe(t.Context(), external.EditKey(leaving, "bob")); err != nil || done {
		t.Errorf("an edit was written to an object that is being deleted (%v)", err)
	}
	if _, err := edits.Observe(t.Context(), "ns/nothing/bob"); !errors.Is(err, external.ErrNotFound) {
		t.Errorf("Observe of a missing object: got %v", err)
	}
	if _, err := edits.Ensure(t.Context(), "ns/nothing/bob", struct{}{}); !apierrors.IsNotFound(err) {
		t.Errorf("Ensure of a missing object: got %v", err)
	}
	if err := edits.Remove(t.Context(), "ns/nothing/bob"); err != nil {
		t.Errorf("Remove of a missing object: got %v", err)
	}
	edits.Live = staleReader{c}
	if _, err := edits.Ensure(t.Context(), external.EditKey(book, "bob"), struct{}{}); !apierrors.IsConflict(err) {
		t.Errorf("Ensure of a changed object: got %v, want a conflict", err)
	}
}

// staleReader is a reader that returns old versions of objects.
type staleReader struct{ client.Reader }

func (s staleReader) Get(ctx context.Context, key client.ObjectKey, o client.Object, opts ...client.GetOption) error {
	err := s.Reader.Get(ctx, key, o, opts...)
	o.SetResourceVersion("1")
	return err
}
