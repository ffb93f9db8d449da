package controller

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/client-go/kubernetes/scheme"
	toolscache "k8s.io/client-go/tools/cache"

	"github.com/reconcilekit/reconcilekit/reconcile/controller/internal/declaration"
	"github.com/reconcilekit/reconcilekit/reconcile/controller/internal/observe"
	"github.com/reconcilekit/reconcilekit/reconcile/controller/internal/shards"
	"github.com/reconcilekit/reconcilekit/reconcile/controller/internal/sparse"
)

// controller returns a controller of the selected Services with more declarations.
func controller(t *testing.T, name string, selection shards.Selection, more ...declaration.Declaration) (c cachedController, shares *bool) {
	t.Helper()
	kinds, err := declaration.Resolve(name, scheme.Scheme, append([]declaration.Declaration{
		{Purpose: declaration.PurposeFor, Object: &corev1.Service{}},
	}, more...))
	if err != nil {
		t.Fatal(err)
	}
	kinds.ShareOwners(selection)
	shares = new(bool)
	return cachedController{
		Kinds: kinds, Managers: []string{name}, Failed: &observe.ListFailures{},
		Share: func(informers *shards.Informers) { *shares = informers != nil },
	}, shares
}

// TestShared checks that an informer lists one shard only if all declarations of the kind use the same shard.
func TestShared(t *testing.T) {
	t.Parallel()
	first, second, all := shards.ByLabel("shard", "a"), shards.ByLabel("shard", "b"), shards.Selection{}
	reads := declaration.Declaration{Purpose: declaration.PurposeReads, Object: &corev1.Service{}}
	for title, tc := range map[string]struct {
		one, other shards.Selection
		more       []declaration.Declaration
		want       bool
	}{
		"no shard":    {one: all, other: all},
		"same shard":  {one: first, other: first, want: true},
		"other shard": {one: first, other: second},
		"one shard":   {one: first, other: all},
		"also read":   {one: first, other: first, more: []declaration.Declaration{reads}},
	} {
		a, shared := controller(t, "a", tc.one)
		b, _ := controller(t, "b", tc.other, tc.more...)
		options, err := newCacheOptions(scheme.Scheme, []cachedController{a, b})
		if err != nil {
			t.Fatal(err)
		}
		if *shared != tc.want {
			t.Errorf("%s: the informer asks for a part: %t, want %t", title, *shared, tc.want)
		}
		if options.NewInformer == nil {
			t.Errorf("%s: no informers", title)
		}
	}
}

// TestSparse checks that Whole of one controller applies to all controllers. Otherwise, the informer keeps only metadata of foreign objects.
func TestSparse(t *testing.T) {
	t.Parallel()
	whole := declaration.Declaration{Purpose: declaration.PurposeReads, Object: &corev1.Secret{}, Sparse: declaration.SparseNever}
	reads := declaration.Declaration{Purpose: declaration.PurposeReads, Object: &corev1.Secret{}}
	for title, tc := range map[string]struct {
		other declaration.Declaration
		want  bool
	}{"read by both": {reads, true}, "needed whole by one": {whole, false}} {
		a, _ := controller(t, "a", shards.Selection{}, reads)
		b, _ := controller(t, "b", shards.Selection{}, tc.other)
		options, err := newCacheOptions(scheme.Scheme, []cachedController{a, b})
		if err != nil {
			t.Fatal(err)
		}
		informer := options.NewInformer(&toolscache.ListWatch{}, &corev1.Secret{}, 0, nil)
		if _, got := informer.(*sparse.Informer); got != tc.want {
			t.Errorf("%s: metadata of others: %t, want %t", title, got, tc.want)
		}
	}
}

// TestFilters checks that controllers share the informer of a kind, and therefore its selector.
func TestFilters(t *testing.T) {
	t.Parallel()
	filtered := func(app string) declaration.Declaration {
		return declaration.Declaration{
			Purpose: declaration.PurposeReads, Object: &corev1.Secret{}, Filter: &declaration.Filter{Labels: labels.SelectorFromSet(labels.Set{"app": app})},
		}
	}
	a, _ := controller(t, "a", shards.Selection{}, filtered("shop"))
	for app, want := range map[string]string{"shop": "", "bank": `share the cache of /v1/Secret but filter it by "app=shop" and "app=bank"`} {
		b, _ := controller(t, "b", shards.Selection{}, filtered(app))
		options, err := newCacheOptions(scheme.Scheme, []cachedController{a, b})
		if want == "" && (err != nil || len(options.ByObject) != 1) || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("a filter of %q beside that of the other: %v, got %v, want %q", app, options.ByObject, err, want)
		}
	}
}

// TestTransform checks that the cache keeps only the managedFields entries of the controllers' field managers.
func TestTransform(t *testing.T) {
	t.Parallel()
	a, _ := controller(t, "a", shards.Selection{})
	options, err := newCacheOptions(scheme.Scheme, []cachedController{a})
	if err != nil {
		t.Fatal(err)
	}
	object := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{ManagedFields: []metav1.ManagedFieldsEntry{
		{Manager: "a", FieldsV1: &metav1.FieldsV1{Raw: []byte("{}")}}, {Manager: "x", FieldsV1: &metav1.FieldsV1{Raw: []byte("{}")}},
	}}}
	kept, err := options.DefaultTransform(object)
	if err != nil {
		t.Fatal(err)
	}
	for _, entry := range kept.(*corev1.Secret).ManagedFields {
		if ours := entry.Manager == "a"; ours != (entry.FieldsV1 != nil) {
			t.Errorf("the fields of %q are kept: %t, want %t", entry.Manager, !ours, ours)
		}
	}
}
