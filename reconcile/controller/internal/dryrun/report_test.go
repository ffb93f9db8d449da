package dryrun_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/cache/informertest"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	ctrl "sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/reconcilekit/reconcilekit/reconcile/controller/internal/declaration"
	"github.com/reconcilekit/reconcilekit/reconcile/controller/internal/dryrun"
	"github.com/reconcilekit/reconcilekit/reconcile/controller/internal/groups"
	"github.com/reconcilekit/reconcilekit/reconcile/controller/internal/observe"
	"github.com/reconcilekit/reconcilekit/reconcile/controller/internal/tracked"
	"github.com/reconcilekit/reconcilekit/reconcile/preview"
)

// filled is a fake manager whose cache is synced.
type filled struct {
	manager.Manager
	cache informertest.FakeInformers
}

func (f *filled) GetCache() cache.Cache { return &f.cache }

// controllers returns a controller of Services and a singleton, and records their reconciliations in order.
func controllers(t *testing.T, mgr manager.Manager, manifests []*unstructured.Unstructured) (all []*dryrun.Controller, ran *[]string) {
	t.Helper()
	ran = new([]string)
	c := fake.NewClientBuilder().WithObjects(
		&corev1.Service{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "web"}},
		&corev1.Service{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "api"}},
	).Build()
	add := func(name string, owner client.Object, store *groups.Store) {
		kinds, err := declaration.Resolve(name, scheme.Scheme, []declaration.Declaration{{Purpose: declaration.PurposeFor, Object: owner}})
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, &dryrun.Controller{
			Manager: mgr, Reads: tracked.New(kinds, c, 0, tracked.Answers{}), Failed: &observe.ListFailures{}, Groups: store,
			Timeout: time.Minute, Pass: &dryrun.Pass{}, Offered: &dryrun.Offered{Reader: c, Clock: clock.RealClock{}}, Manifests: manifests,
			Passes: ctrl.Func(func(_ context.Context, r ctrl.Request) (ctrl.Result, error) {
				*ran = append(*ran, name+" "+r.String())
				return ctrl.Result{}, nil
			}),
		})
	}
	single := groups.NewStore("server")
	single.Single = true
	add("services", &corev1.Service{}, nil)
	add("server", groups.Of("server"), single)
	return all, ran
}

func manifest(kind, name string) *unstructured.Unstructured {
	o := &unstructured.Unstructured{}
	o.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind(kind))
	o.SetNamespace("shop")
	o.SetName(name)
	return o
}

// TestReport checks that singletons are reconciled first, that every owner is reconciled, and that a report for manifests contains only their objects.
func TestReport(t *testing.T) {
	t.Parallel()
	for title, tc := range map[string]struct {
		manifests            []*unstructured.Unstructured
		ran, owners, skipped []string
		err                  string
	}{
		"all in the cluster": {
			ran: []string{"server /server", "services shop/api", "services shop/web"}, owners: []string{"server", "shop/api", "shop/web"},
		},
		"manifests": {
			manifests: []*unstructured.Unstructured{manifest("Service", "new"), manifest("Pod", "p")},
			ran:       []string{"server /server", "services shop/new"}, owners: []string{"shop/new"},
			skipped: []string{"Pod p: no controller reconciles it"},
		},
		"manifests of others": {manifests: []*unstructured.Unstructured{manifest("Pod", "p")}, err: "Pod p: no controller reconciles it"},
	} {
		mgr := &filled{}
		all, ran := controllers(t, mgr, tc.manifests)
		report, err := dryrun.Report(t.Context(), mgr.GetCache(), tc.manifests, all)
		if (err == nil) != (tc.err == "") || err != nil && !strings.Contains(err.Error(), tc.err) {
			t.Errorf("%s: got %v, want %q", title, err, tc.err)
		}
		if diff := cmp.Diff(tc.ran, *ran); diff != "" {
			t.Errorf("%s: passes (-want +got):\n%s", title, diff)
		}
		if diff := cmp.Diff(tc.owners, named(report.Owners)); diff != "" {
			t.Errorf("%s: owners (-want +got):\n%s", title, diff)
		}
		if diff := cmp.Diff(tc.skipped, report.Skipped); diff != "" {
			t.Errorf("%s: skipped (-want +got):\n%s", title, diff)
		}
	}
}

func named(owners []preview.Owner) (names []string) {
	for i := range owners {
		names = append(names, owners[i].Name)
	}
	return names
}
