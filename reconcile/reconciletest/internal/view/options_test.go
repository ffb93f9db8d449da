package view_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/internal/view"
)

// TestRights checks that a cache needs the permissions to list and to watch.
func TestRights(t *testing.T) {
	t.Parallel()
	for _, missing := range []string{"list", "watch", ""} {
		var verbs []string
		for _, verb := range []string{"list", "watch"} {
			if verb != missing {
				verbs = append(verbs, verb)
			}
		}
		rules := []rbacv1.PolicyRule{{APIGroups: []string{""}, Resources: []string{"configmaps"}, Verbs: verbs}}
		err := view.New(newCluster(t, rules), cache.Options{}).List(t.Context(), &corev1.ConfigMapList{})
		if missing == "" && err == nil {
			continue
		}
		if !apierrors.IsForbidden(err) || !strings.Contains(err.Error(), `add the verb "`+missing+`"`) {
			t.Errorf("without the right to %s: %v", missing, err)
		}
	}
}

// TestOptions checks that cache options filter and transform objects.
func TestOptions(t *testing.T) {
	t.Parallel()
	strip := func(in any) (any, error) {
		in.(*corev1.ConfigMap).Data = nil // must not change the object of the informer
		return in, nil
	}
	only := func(name string) labels.Selector { return labels.SelectorFromSet(labels.Set{"name": name}) }
	broken := func(any) (any, error) { return nil, errors.New("broken") }
	for name, c := range map[string]struct {
		opts   cache.Options
		want   []string
		colors int
	}{
		"none":                       {cache.Options{}, []string{"a/x", "a/y"}, 2},
		"a default selector":         {cache.Options{DefaultLabelSelector: only("x")}, []string{"a/x"}, 1},
		"a selector of the kind":     {cache.Options{DefaultLabelSelector: only("x"), ByObject: map[client.Object]cache.ByObject{&corev1.ConfigMap{}: {Label: only("y")}}}, []string{"a/y"}, 1},
		"a selector of another kind": {cache.Options{ByObject: map[client.Object]cache.ByObject{&corev1.Secret{}: {Label: only("y")}}}, []string{"a/x", "a/y"}, 2},
		"a default transform":        {cache.Options{DefaultTransform: strip}, []string{"a/x", "a/y"}, 0},
		"a transform of the kind":    {cache.Options{ByObject: map[client.Object]cache.ByObject{&corev1.ConfigMap{}: {Transform: strip}}}, []string{"a/x", "a/y"}, 0},
		"a transform that fails":     {cache.Options{DefaultTransform: broken}, []string{"a/x", "a/y"}, 2},
		"fields of the kind":         {cache.Options{ByObject: map[client.Object]cache.ByObject{&corev1.ConfigMap{}: {Field: fields.OneTermNotEqualSelector("metadata.name", "x")}}}, []string{"a/y"}, 1},
		"fields without a value":     {cache.Options{DefaultFieldSelector: fields.OneTermEqualSelector("type", "x")}, nil, 0},
		"its namespace":              {cache.Options{DefaultNamespaces: map[string]cache.Config{"b": {}}, ByObject: map[client.Object]cache.ByObject{&corev1.ConfigMap{}: {Namespaces: map[string]cache.Config{"a": {}}}}}, []string{"a/x", "a/y"}, 2},
		"all namespaces":             {cache.Options{DefaultNamespaces: map[string]cache.Config{"b": {}, cache.AllNamespaces: {}}}, []string{"a/x", "a/y"}, 2},
		"another namespace":          {cache.Options{DefaultNamespaces: map[string]cache.Config{"b": {}}}, nil, 0},
		"a selector and transform":   {cache.Options{DefaultLabelSelector: only("y"), DefaultTransform: strip}, []string{"a/y"}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newCluster(t, nil, "a/x", "a/y")
			v := view.New(w, c.opts)
			if diff := cmp.Diff(c.want, listed(t, v)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			for _, name := range []string{"a/x", "a/y"} {
				paint(t, w, name, "green")
			}
			if err := v.Sync(); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.want, listed(t, v)); diff != "" {
				t.Errorf("later (-want +got):\n%s", diff)
			}
			var list corev1.ConfigMapList
			if err := v.List(t.Context(), &list); err != nil {
				t.Fatal(err)
			}
			colors := 0
			for _, item := range list.Items {
				colors += len(item.Data)
			}
			if colors != c.colors {
				t.Errorf("%d of them have their data, want %d", colors, c.colors)
			}
			var stored corev1.ConfigMap
			if err := w.Client.Get(t.Context(), client.ObjectKey{Namespace: "a", Name: "y"}, &stored); err != nil || len(stored.Data) == 0 {
				t.Errorf("the stored objects were changed: %v, %v", stored.Data, err)
			}
		})
	}
}

// TestOtherNamespaces checks that a read in a namespace outside of the cache is an error.
func TestOtherNamespaces(t *testing.T) {
	t.Parallel()
	w := newCluster(t, nil, "a/x", "b/x")
	v := view.New(w, cache.Options{ByObject: map[client.Object]cache.ByObject{&corev1.ConfigMap{}: {Namespaces: map[string]cache.Config{"a": {}}}}})
	const words = "because of unknown namespace for the cache"
	if err := v.Get(t.Context(), client.ObjectKey{Namespace: "b", Name: "x"}, &corev1.ConfigMap{}); err == nil || !strings.Contains(err.Error(), words) {
		t.Errorf("get: %v", err)
	}
	if err := v.List(t.Context(), &corev1.ConfigMapList{}, client.InNamespace("b")); err == nil || !strings.Contains(err.Error(), words) {
		t.Errorf("list: %v", err)
	}
	if err := v.Get(t.Context(), client.ObjectKey{Namespace: "a", Name: "x"}, &corev1.ConfigMap{}); err != nil {
		t.Errorf("in its own namespace: %v", err)
	}
}
