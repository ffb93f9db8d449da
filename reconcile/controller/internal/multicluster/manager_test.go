package multicluster_test

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/cache/informertest"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/cluster"
	"sigs.k8s.io/controller-runtime/pkg/manager"

	"github.com/reconcilekit/reconcilekit/internal/widget"
	"github.com/reconcilekit/reconcilekit/reconcile/controller/internal/declaration"
	"github.com/reconcilekit/reconcilekit/reconcile/controller/internal/multicluster"
)

// place is a fake cluster with a manager.
type place struct {
	manager.Manager
	client client.WithWatch
	cache  *informertest.FakeInformers
}

var _ cluster.Cluster = (*place)(nil)

func (p *place) GetClient() client.Client       { return p.client }
func (p *place) GetAPIReader() client.Reader    { return p.client }
func (p *place) GetCache() cache.Cache          { return p.cache }
func (p *place) GetScheme() *runtime.Scheme     { return p.client.Scheme() }
func (p *place) GetRESTMapper() meta.RESTMapper { return p.client.RESTMapper() }

// two returns the cluster of the owners, the cluster of the children, and the manager for both.
func two(t *testing.T) (owners, others *place, across *multicluster.Manager) {
	t.Helper()
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{corev1.AddToScheme, widget.AddToScheme} {
		if err := add(scheme); err != nil {
			t.Fatal(err)
		}
	}
	start := func() *place {
		return &place{
			client: fake.NewClientBuilder().WithScheme(scheme).WithStatusSubresource(&widget.Widget{}, &corev1.Pod{}).Build(),
			cache:  &informertest.FakeInformers{Scheme: scheme},
		}
	}
	owners, others = start(), start()
	across, err := multicluster.New(owners, others, &widget.Widget{})
	if err != nil {
		t.Fatal(err)
	}
	return owners, others, across
}

func named(name string) metav1.ObjectMeta { return metav1.ObjectMeta{Namespace: "shop", Name: name} }

// TestKindsAreInTheirCluster checks that each kind is written, read and watched in its own cluster.
func TestKindsAreInTheirCluster(t *testing.T) {
	t.Parallel()
	owners, others, across := two(t)
	for _, tc := range []struct {
		object      client.Object
		list        client.ObjectList
		in, notIn   *place
		statusPatch string
	}{
		{&widget.Widget{ObjectMeta: named("w")}, &widget.WidgetList{}, owners, others, `{"status":{"state":"Ready"}}`},
		{&corev1.Pod{ObjectMeta: named("p")}, &corev1.PodList{}, others, owners, `{"status":{"phase":"Running"}}`},
	} {
		ctx, key := t.Context(), client.ObjectKeyFromObject(tc.object)
		if err := across.GetClient().Create(ctx, tc.object); err != nil {
			t.Fatal(err)
		}
		if err := across.GetAPIReader().Get(ctx, key, tc.object); err != nil {
			t.Errorf("read %T: %v", tc.object, err)
		}
		if err := across.GetClient().List(ctx, tc.list); err != nil || meta.LenList(tc.list) != 1 {
			t.Errorf("list %T: %d items, %v", tc.list, meta.LenList(tc.list), err)
		}
		if err := tc.notIn.client.Get(ctx, key, tc.object); !apierrors.IsNotFound(err) {
			t.Errorf("%T is in the other cluster: %v", tc.object, err)
		}
		before := tc.object.GetResourceVersion()
		for _, status := range []client.SubResourceWriter{across.GetClient().Status(), across.GetClient().SubResource("status")} {
			if err := status.Patch(ctx, tc.object, client.RawPatch("application/merge-patch+json", []byte(tc.statusPatch))); err != nil {
				t.Errorf("write the status of %T: %v", tc.object, err)
			}
		}
		if err := tc.in.client.Get(ctx, key, tc.object); err != nil || tc.object.GetResourceVersion() == before {
			t.Errorf("the status of %T was not written in its cluster: %v", tc.object, err)
		}
		if _, err := across.GetCache().GetInformer(ctx, tc.object); err != nil {
			t.Error(err)
		}
		if watched, other := len(tc.in.cache.InformersByGVK), len(tc.notIn.cache.InformersByGVK); watched != 1 || tc.in == owners && other != 0 {
			t.Errorf("%T: %d informers in its cluster, %d in the other one", tc.object, watched, other)
		}
		if err := across.GetClient().Delete(ctx, tc.object); err != nil {
			t.Errorf("delete %T: %v", tc.object, err)
		}
	}
}

// TestCheck checks that features that need a single cluster are rejected with two clusters only.
func TestCheck(t *testing.T) {
	t.Parallel()
	owners, _, across := two(t)
	kinds, err := declaration.Resolve("shop", owners.GetScheme(), []declaration.Declaration{
		{Purpose: declaration.PurposeFor, Object: &widget.Widget{}},
		{Purpose: declaration.PurposeOwns, Object: &corev1.Secret{}},
		{Purpose: declaration.PurposeReads, Object: &corev1.ConfigMap{}, Optional: true},
		{Purpose: declaration.PurposeWrites, Object: &corev1.Service{}},
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := multicluster.Check(owners, kinds); err != nil {
		t.Errorf("one cluster: %v", err)
	}
	err = multicluster.Check(across, kinds)
	if err == nil {
		t.Fatal("two clusters: Owns and Optional are no error")
	}
	for want, times := range map[string]int{"Owns of /v1/Secret": 1, "/v1/ConfigMap is Optional": 1, "Service": 0} {
		if got := strings.Count(err.Error(), want); got != times {
			t.Errorf("%q is %d times in %q, want %d", want, got, err, times)
		}
	}
}
