package reconciletest_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/manager"

	"github.com/reconcilekit/reconcilekit/health"
	"github.com/reconcilekit/reconcilekit/internal/widget"
	"github.com/reconcilekit/reconcilekit/reconcile"
	"github.com/reconcilekit/reconcilekit/reconcile/controller"
	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest"
	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/check"
)

// label plans a ConfigMap with the data of a foreign Secret and of the ConfigMaps with a label.
type label struct {
	past client.Reader // replaces the reader of the reconciliation; nil uses that
	list bool          // use past for the list, too
}

type labelled struct {
	secret reconcile.FetchResult[*corev1.Secret]
	offers reconcile.FetchResult[*corev1.ConfigMapList]
}

func (l labelled) GetComponentHealth(context.Context) []health.Component {
	return []health.Component{l.secret.Upstream("Secret", nil), l.offers.Upstream("Offers", nil)}
}

func (l label) FetchRemoteState(ctx context.Context, r reconcile.Reader, rc reconcile.ReconcileContext[*widget.Widget]) (out labelled) {
	byName, byLabel := r, r
	if l.past != nil {
		byName = l.past
	}
	if l.list {
		byName, byLabel = r, l.past
	}
	out.secret = reconcile.Fetch(ctx, byName, client.ObjectKey{Namespace: rc.Object.Namespace, Name: rc.Object.Spec.Ref}, &corev1.Secret{})
	out.offers = reconcile.FetchList(ctx, byLabel, &corev1.ConfigMapList{}, client.InNamespace(rc.Object.Namespace), client.MatchingLabels{onSale: "true"})
	return out
}

func (label) PlanResources(_ context.Context, rc reconcile.ReconcileContext[*widget.Widget], l labelled) (plan reconcile.PlanResult, _ error) {
	var prices []string
	for _, offer := range l.offers.Value.Items {
		prices = append(prices, offer.Data["price"])
	}
	plan.Apply(&corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{Name: rc.Object.Name + "-label"},
		Data: map[string]string{
			"prices": strings.Join(prices, ","), "message": rc.Object.Spec.Message, "brand": string(l.secret.Value.Data["brand"]),
		},
	})
	return plan, nil
}

// labelSystem returns the system of an operator with the cache of reconcile/operator.
func labelSystem(t *testing.T, past func(manager.Manager) client.Reader, list bool) reconciletest.System {
	t.Helper()
	declared := func(l label) *controller.Controller {
		return controller.New("label", l).Owns(&corev1.ConfigMap{}).Reads(&corev1.ConfigMap{}).Reads(&corev1.Secret{}).Build()
	}
	options, err := controller.CacheOptions(widgetScheme(), declared(label{}))
	if err != nil {
		t.Fatal(err)
	}
	return reconciletest.System{
		Setup:  func(mgr manager.Manager) error { return declared(label{past(mgr), list}).SetupWithManager(mgr) },
		Scheme: widgetScheme(),
		CRDs:   []*apiextensionsv1.CustomResourceDefinition{widget.CRD()},
		Cache:  options,
		Given: []client.Object{
			offer("apples"), offer("pears"), &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "theirs"}, Data: map[string][]byte{"brand": []byte("best")}},
		},
		Owners: []client.Object{&widget.Widget{ObjectMeta: metav1.ObjectMeta{Name: "web"}, Spec: widget.Spec{Message: "hello", Ref: "theirs"}}},
		Change: func(owner client.Object) { owner.(*widget.Widget).Spec.Message = "good bye" },
	}
}

func tracked(manager.Manager) client.Reader { return nil }

// TestConvergeWithASparseCache checks that an operator with a sparse cache converges, because its reader gets missing content from the API server.
func TestConvergeWithASparseCache(t *testing.T) {
	t.Parallel()
	s := labelSystem(t, tracked, false)
	s.Cases = 100
	reconciletest.Converge(t, s)
	reads := explore(t, reconciletest.System{
		Setup: s.Setup, Scheme: s.Scheme, CRDs: s.CRDs, Cache: s.Cache, Given: s.Given, Owners: s.Owners, Cases: 1,
	}).Calls
	whole := explore(t, reconciletest.System{Setup: s.Setup, Scheme: s.Scheme, CRDs: s.CRDs, Given: s.Given, Owners: s.Owners, Cases: 1})
	if reads <= whole.Calls {
		t.Errorf("%d calls, and %d with a cache of entire objects: want additional live reads", reads, whole.Calls)
	}
	if !slices.ContainsFunc(whole.Notes, func(note string) bool { return strings.Contains(note, "of the kinds ConfigMap, Secret") }) {
		t.Errorf("want a note that the cache stores entire objects, got %q", whole.Notes)
	}
}

// TestCatchesAReadOfMetadata checks that a read of such an object through the manager's client is found, because it never returns the content.
func TestCatchesAReadOfMetadata(t *testing.T) {
	t.Parallel()
	for name, list := range map[string]bool{"an object": false, "a list": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := labelSystem(t, func(mgr manager.Manager) client.Reader { return mgr.GetClient() }, list)
			out, err := reconciletest.ExploreUntil(t.Context(), s, check.Rest)
			if err != nil {
				t.Fatal(err)
			}
			if !slices.ContainsFunc(out.Findings, func(f reconciletest.Finding) bool {
				return f.Check == check.Rest && strings.Contains(f.Message, map[bool]string{false: "reads Secret default/theirs through", true: "reads a list of the kind ConfigMap through"}[list])
			}) {
				t.Errorf("%d cases, none found by the check %q; findings: %v", out.Cases, check.Rest, out.Findings)
			}
			s.Cache = cache.Options{}
			s.Cases = 1
			if whole := explore(t, s); slices.ContainsFunc(whole.Findings, func(f reconciletest.Finding) bool { return f.Check == check.Rest }) {
				t.Errorf("with a cache of all objects: %v", whole.Findings)
			}
		})
	}
}
