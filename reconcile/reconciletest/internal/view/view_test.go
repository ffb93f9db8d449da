package view_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/manager"

	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/internal/cluster"
	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/internal/description"
	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/internal/view"
)

var configMaps = corev1.SchemeGroupVersion.WithKind("ConfigMap")

// newCluster returns a fake API server with ConfigMaps, each given as "namespace/name".
func newCluster(t *testing.T, rules []rbacv1.PolicyRule, names ...string) *cluster.Cluster {
	t.Helper()
	system, err := description.Prepare(description.System{
		Setup:  func(manager.Manager) error { return nil },
		Owners: []client.Object{&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "shop"}}},
		Rules:  rules,
	})
	if err != nil {
		t.Fatal(err)
	}
	w, err := cluster.New(t.Context(), system, "")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		create(t, w, name)
	}
	return w
}

func configMap(name string) *corev1.ConfigMap {
	namespace, name, _ := strings.Cut(name, "/")
	return &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name, Labels: map[string]string{"name": name}}, Data: map[string]string{"color": "red"},
	}
}

func create(t *testing.T, w *cluster.Cluster, name string) {
	t.Helper()
	if err := w.Client.Create(t.Context(), configMap(name)); err != nil {
		t.Fatal(err)
	}
}

// TestBeforeARead checks that the function before a read is called once for reads of a reconciliation, and never for reads of an event handler.
func TestBeforeARead(t *testing.T) {
	t.Parallel()
	w := newCluster(t, nil, "a/x")
	v := view.New(w, cache.Options{})
	happened := 0
	read := func() {
		if err := v.Get(t.Context(), client.ObjectKey{Namespace: "a", Name: "x"}, &corev1.ConfigMap{}); err != nil {
			t.Error(err)
		}
	}
	v.Reads.Before("get ConfigMap a/x", func() {
		happened++
		read() // like a concurrent reconciliation
	})
	read()
	if happened != 0 {
		t.Error("it happened before a read by a handler")
	}
	v.Reads.Pass(true)
	read()
	read()
	if happened != 1 {
		t.Errorf("it happened %d times", happened)
	}
}

func paint(t *testing.T, w *cluster.Cluster, name, color string) {
	t.Helper()
	obj := configMap(name)
	obj.Data["color"] = color
	if err := w.Client.Update(t.Context(), obj); err != nil {
		t.Fatal(err)
	}
}

// listed returns the names of the ConfigMaps in a view.
func listed(t *testing.T, v *view.View, opts ...client.ListOption) (out []string) {
	t.Helper()
	var list corev1.ConfigMapList
	if err := v.List(t.Context(), &list, opts...); err != nil {
		t.Fatal(err)
	}
	for _, item := range list.Items {
		out = append(out, item.Namespace+"/"+item.Name)
	}
	return out
}

func TestList(t *testing.T) {
	t.Parallel()
	w := newCluster(t, nil, "b/y", "a/z", "a/x")
	v := view.New(w, cache.Options{})
	color := func(obj client.Object) []string { return []string{obj.(*corev1.ConfigMap).Data["color"]} }
	if err := v.IndexField(t.Context(), &corev1.ConfigMap{}, "color", color); err != nil {
		t.Fatal(err)
	}
	paint(t, w, "a/z", "green")
	for name, c := range map[string]struct {
		opts []client.ListOption
		want []string
	}{
		"all":                        {nil, []string{"a/x", "a/z", "b/y"}},
		"of a namespace":             {[]client.ListOption{client.InNamespace("a")}, []string{"a/x", "a/z"}},
		"by label":                   {[]client.ListOption{client.MatchingLabels{"name": "y"}}, []string{"b/y"}},
		"by field":                   {[]client.ListOption{client.MatchingFields{"color": "red"}}, []string{"a/x", "b/y"}},
		"by all fields":              {[]client.ListOption{client.InNamespace("a"), client.MatchingFields{"color": "red"}}, []string{"a/x"}},
		"by a field without a match": {[]client.ListOption{client.MatchingFields{"color": "blue"}}, nil},
		"of another namespace":       {[]client.ListOption{client.InNamespace("c")}, nil},
	} {
		if diff := cmp.Diff(c.want, listed(t, v, c.opts...)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
	w.Reversed = true
	if diff := cmp.Diff([]string{"b/y", "a/z", "a/x"}, listed(t, v)); diff != "" {
		t.Errorf("reversed (-want +got):\n%s", diff)
	}
}

// TestCopies checks that a read returns a copy, unless the reader disables deep copies.
func TestCopies(t *testing.T) {
	t.Parallel()
	v, key := view.New(newCluster(t, nil, "a/x"), cache.Options{}), client.ObjectKey{Namespace: "a", Name: "x"}
	var one, other corev1.ConfigMap
	for _, obj := range []*corev1.ConfigMap{&one, &other} {
		if err := v.Get(t.Context(), key, obj); err != nil {
			t.Fatal(err)
		}
	}
	one.Data["color"] = "blue"
	var list corev1.ConfigMapList
	if err := v.List(t.Context(), &list); err != nil {
		t.Fatal(err)
	}
	list.Items[0].Data["color"] = "blue"
	var again corev1.ConfigMap
	if err := v.Get(t.Context(), key, &again, client.UnsafeDisableDeepCopy); err != nil || other.Data["color"] != "red" || again.Data["color"] != "red" {
		t.Errorf("the cache shows %s and %s, %v", other.Data["color"], again.Data["color"], err)
	}
	var shared corev1.ConfigMap
	if err := v.Get(t.Context(), key, &shared, client.UnsafeDisableDeepCopy); err != nil {
		t.Fatal(err)
	}
	again.Data["color"] = "green"
	if shared.Data["color"] != "green" {
		t.Error("two reads without a copy got different maps")
	}
}

func TestReadErrors(t *testing.T) {
	t.Parallel()
	w := newCluster(t, nil, "a/x")
	v := view.New(w, cache.Options{})
	get := func(obj client.Object) error {
		return v.Get(t.Context(), client.ObjectKey{Namespace: "a", Name: "y"}, obj)
	}
	if err := get(&corev1.ConfigMap{}); !apierrors.IsNotFound(err) {
		t.Errorf("of nothing: %v", err)
	}
	if err := get(&unstructured.Unstructured{}); err == nil {
		t.Error("an object without a kind was read")
	}
	err := v.List(t.Context(), &corev1.ConfigMapList{}, client.MatchingFieldsSelector{Selector: fields.SelectorFromSet(fields.Set{"color": "red"})})
	if err == nil || !strings.Contains(err.Error(), "index with name field:color does not exist") {
		t.Errorf("without the index: %v", err)
	}
	err = v.List(t.Context(), &corev1.ServiceAccountList{}, client.MatchingFields{"color": "red"})
	if err == nil || !strings.Contains(err.Error(), "index with name field:color does not exist") {
		t.Errorf("of nothing without the index: %v", err)
	}
	for _, selector := range []fields.Selector{fields.Everything(), fields.ParseSelectorOrDie("color!=red")} {
		if err := v.List(t.Context(), &corev1.ConfigMapList{}, client.MatchingFieldsSelector{Selector: selector}); err == nil || !strings.Contains(err.Error(), "non-exact field matches") {
			t.Errorf("by %q: %v", selector, err)
		}
	}
	extract := func(client.Object) []string { return nil }
	first, second := v.IndexField(t.Context(), &corev1.ConfigMap{}, "color", extract), v.IndexField(t.Context(), &corev1.ConfigMap{}, "color", extract)
	if first != nil || second == nil {
		t.Errorf("an index twice: %v, then %v", first, second)
	}
	if err := w.Withdraw(t.Context(), schema.GroupKind{Kind: "Secret"}); err != nil {
		t.Fatal(err)
	}
	if err := get(&corev1.Secret{}); err == nil || apierrors.IsNotFound(err) && !strings.Contains(err.Error(), "could not find") {
		t.Errorf("of a kind that is not served: %v", err)
	}
}

// TestReadErrors checks that injected read errors affect reconciliations, but not event handlers.
func TestReadsOfPasses(t *testing.T) {
	t.Parallel()
	v := view.New(newCluster(t, nil, "a/x"), cache.Options{})
	read := func() (failed int) {
		err := v.Get(t.Context(), client.ObjectKey{Namespace: "a", Name: "x"}, &corev1.ConfigMap{})
		if apierrors.IsInternalError(err) {
			failed++
		}
		if apierrors.IsInternalError(v.List(t.Context(), &corev1.ConfigMapList{})) {
			failed += 10
		}
		return failed
	}
	v.Reads.Failing("get ConfigMap a/x", 2)
	if n := read(); n != 0 || len(v.Reads.Names()) != 0 {
		t.Errorf("of a handler: %d failed, of %v", n, v.Reads.Names())
	}
	v.Reads.Pass(true)
	for n, want := range []int{1, 1, 0} {
		if got := read(); got != want {
			t.Errorf("read %d: %d failed, want %d", n, got, want)
		}
	}
	v.Reads.Failing("list ConfigMap", 1)
	if got := read(); got != 10 {
		t.Errorf("the list: %d failed", got)
	}
	if diff := cmp.Diff([]string{"get ConfigMap a/x", "list ConfigMap"}, v.Reads.Names()); diff != "" {
		t.Errorf("reads (-want +got):\n%s", diff)
	}
	v.Reads.Pass(false)
	v.Reads.Failing("list ConfigMap", 1)
	if got := read(); got != 0 {
		t.Errorf("after the pass: %d failed", got)
	}
}
