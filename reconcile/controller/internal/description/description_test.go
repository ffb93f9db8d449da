package description_test

import (
	"context"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client"
	ctrl "sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/reconcilekit/reconcilekit/internal/widget"
	"github.com/reconcilekit/reconcilekit/reconcile/controller/dataflow"
	"github.com/reconcilekit/reconcilekit/reconcile/controller/internal/declaration"
	"github.com/reconcilekit/reconcilekit/reconcile/controller/internal/description"
)

// catalogue returns a catalogue with a kind for each purpose.
func catalogue(t *testing.T) *declaration.Catalogue {
	t.Helper()
	known := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{scheme.AddToScheme, widget.AddToScheme} {
		if err := add(known); err != nil {
			t.Fatal(err)
		}
	}
	kinds, err := declaration.Resolve("shop", known, []declaration.Declaration{
		{Purpose: declaration.PurposeFor, Object: &widget.Widget{}, Source: "shop.go:1"},
		{Purpose: declaration.PurposeOwns, Object: &corev1.Service{}, Source: "shop.go:2"},
		{Purpose: declaration.PurposeReads, Object: &corev1.Secret{}, Source: "shop.go:3"},
		{Purpose: declaration.PurposeShares, Object: &corev1.Namespace{}, Source: "shop.go:4"},
		{Purpose: declaration.PurposeContributes, Object: &corev1.Node{}, Source: "shop.go:5"},
		{Purpose: declaration.PurposeRetired, Object: &corev1.Endpoints{}, Source: "shop.go:6"}, //nolint:staticcheck // a kind that is no more in use
		{
			Purpose: declaration.PurposeWatches, Object: &corev1.Pod{}, Source: "shop.go:7", Optional: true,
			Mapping: func(context.Context, client.Object) []ctrl.Request { return nil },
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	return kinds
}

// TestWatches checks the order of the watches: owners, children, then other kinds by name, with the CRDs if a kind is optional.
func TestWatches(t *testing.T) {
	t.Parallel()
	want := []dataflow.Watch{
		{Type: "For", GVK: "test.reconcilekit.dev/v1/Widget", Source: "shop.go:1"},
		{Type: "Owns", GVK: "/v1/Service", Source: "shop.go:2"},
		{Type: "Watches", GVK: "/v1/Namespace", Source: "shop.go:4"},
		{Type: "Watches", GVK: "/v1/Node", Source: "shop.go:5"},
		{Type: "Watches", GVK: "/v1/Pod", Source: "shop.go:7"},
		{Type: "Watches", GVK: "/v1/Secret", Source: "shop.go:3"},
		{Type: "Watches", GVK: declaration.Print(declaration.CRD()), Source: "shop.go:7"},
	}
	if diff := cmp.Diff(want, description.Watches(catalogue(t))); diff != "" {
		t.Errorf("watches (-want +got):\n%s", diff)
	}
}

// TestAccess checks that the permissions of the plan for each kind follow from its purpose, and that the finalizer has the same permissions.
func TestAccess(t *testing.T) {
	t.Parallel()
	want := map[string][]string{
		"test.reconcilekit.dev/v1/Widget": {"patch metadata"}, "/v1/Service": {"create", "patch", "delete"}, "/v1/Secret": nil,
		"/v1/Namespace": {"create", "patch"}, "/v1/Node": {"patch"}, "/v1/Pod": nil, "/v1/Endpoints": {"delete"},
	}
	for _, finalizes := range []bool{false, true} {
		rows := description.Access(catalogue(t), finalizes)
		if len(rows) != len(want) {
			t.Errorf("got %d rows, want %d", len(rows), len(want))
		}
		for _, row := range rows {
			if diff := cmp.Diff(want[row.GVK], row.Apply); diff != "" {
				t.Errorf("%s: apply (-want +got):\n%s", row.GVK, diff)
			}
			finalize := want[row.GVK]
			if row.GVK == "/v1/Service" && !finalizes {
				finalize = nil // the garbage collector deletes it
			}
			if diff := cmp.Diff(finalize, row.Finalize); diff != "" {
				t.Errorf("%s: finalize, with a finalizer %t (-want +got):\n%s", row.GVK, finalizes, diff)
			}
			if sparse := row.GVK == "/v1/Secret"; sparse != (row.Cache == "typed, metadata of others") {
				t.Errorf("%s: the cache is %q", row.GVK, row.Cache)
			}
		}
	}
}

// TestRules checks that the rules contain only the verbs that the purpose of each kind needs.
func TestRules(t *testing.T) {
	t.Parallel()
	verbs := map[string][]string{}
	for _, rule := range description.Rules(catalogue(t)) {
		for _, resource := range rule.Resources {
			verbs[resource] = append(verbs[resource], rule.Verbs...)
			slices.Sort(verbs[resource])
		}
	}
	want := map[string][]string{
		"widgets": {"get", "list", "patch", "watch"}, "widgets/status": {"patch"}, "widgets/finalizers": {"update"},
		"services": {"create", "delete", "get", "list", "patch", "watch"}, "secrets": {"list", "watch"}, "pods": {"list", "watch"},
		"namespaces": {"create", "get", "list", "patch", "watch"}, "nodes": {"get", "list", "patch", "watch"},
		"endpoints": {"delete", "list"}, "customresourcedefinitions": {"list", "watch"},
	}
	if diff := cmp.Diff(want, verbs); diff != "" {
		t.Errorf("verbs (-want +got):\n%s", diff)
	}
}
