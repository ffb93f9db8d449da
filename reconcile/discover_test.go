package reconcile_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/reconcilekit/reconcilekit/reconcile"
)

// offers is a reader whose lists always return ConfigMaps.
type offers struct {
	client.Reader
	items []corev1.ConfigMap
	err   error
}

func (o offers) List(_ context.Context, into client.ObjectList, _ ...client.ListOption) error {
	if list, ok := into.(*corev1.ConfigMapList); ok {
		list.Items = o.items
	}
	return o.err
}

func offer(name string, data map[string]string) corev1.ConfigMap {
	return corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: name}, Data: data}
}

func titled(o *corev1.ConfigMap) error {
	if o.Data["title"] == "" {
		return errors.New("data.title is missing")
	}
	return nil
}

func TestDiscover(t *testing.T) {
	t.Parallel()
	items := []corev1.ConfigMap{offer("a", map[string]string{"title": "A"}), offer("b", nil), offer("c", map[string]string{"title": "C"}), offer("d", nil)}
	refused := errors.New("no connection")
	for name, tc := range map[string]struct {
		reader  offers
		usable  func(*corev1.ConfigMap) error
		found   []string
		skipped string
		err     error
	}{
		"Usable":  {reader: offers{items: items}, usable: titled, found: []string{"a", "c"}, skipped: "shop/b: data.title is missing; shop/d: data.title is missing"},
		"All":     {reader: offers{items: items}, found: []string{"a", "b", "c", "d"}},
		"Nothing": {usable: titled},
		"Failed":  {reader: offers{items: items, err: refused}, usable: titled, err: refused},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := reconcile.Discover(context.Background(), tc.reader, &corev1.ConfigMapList{}, tc.usable)
			var found []string
			for _, o := range got.Value.Found {
				found = append(found, o.Name)
			}
			if diff := cmp.Diff(tc.found, found); diff != "" {
				t.Errorf("found (-want +got):\n%s", diff)
			}
			if got.Value.SkippedText() != tc.skipped {
				t.Errorf("skipped %q, want %q", got.Value.SkippedText(), tc.skipped)
			}
			if !errors.Is(got.Error, tc.err) {
				t.Errorf("error %v, want %v", got.Error, tc.err)
			}
		})
	}
}

// TestDiscoverWrongType checks that a list of another type is an error instead of a panic.
func TestDiscoverWrongType(t *testing.T) {
	t.Parallel()
	got := reconcile.Discover[*corev1.Secret](context.Background(), offers{items: []corev1.ConfigMap{offer("a", nil)}}, &corev1.ConfigMapList{}, nil)
	if want := "discover *v1.Secret: the list *v1.ConfigMapList holds *v1.ConfigMap"; got.Error == nil || got.Error.Error() != want {
		t.Errorf("error %v, want %s", got.Error, want)
	}
}

// Discover lists objects with a label. An object that is not valid is skipped with a reason.
func ExampleDiscover() {
	reader := offers{items: []corev1.ConfigMap{offer("a", map[string]string{"title": "A"}), offer("b", nil)}}
	books := reconcile.Discover(context.Background(), reader, &corev1.ConfigMapList{}, titled,
		client.InNamespace("shop"), client.MatchingLabels{"book": "true"})
	for _, book := range books.Value.Found {
		fmt.Println(book.Name)
	}
	fmt.Println("skipped", books.Value.SkippedText())
	// Output:
	// a
	// skipped shop/b: data.title is missing
}
