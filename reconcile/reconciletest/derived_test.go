package reconciletest_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/manager"

	"github.com/reconcilekit/reconcilekit/health"
	"github.com/reconcilekit/reconcilekit/internal/widget"
	"github.com/reconcilekit/reconcilekit/reconcile"
	"github.com/reconcilekit/reconcilekit/reconcile/controller"
	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest"
	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/check"
)

// prices derives the sorted prices of ConfigMaps.
var prices = &reconcile.Derivation[*corev1.ConfigMap, []string]{
	Name: "prices", List: &corev1.ConfigMapList{},
	Each: func(o *corev1.ConfigMap) []string { return []string{o.Data["price"]} },
	Merge: func(parts [][]string) []string {
		all := slices.Concat(parts...)
		slices.Sort(all)
		return all
	},
}

// tag plans a ConfigMap with the prices for each owner.
type tag struct {
	past client.Reader // a reader without a watch; nil uses the reader of the reconciliation
}

type priced struct {
	reconcile.FetchResult[[]string]
}

func (priced) GetComponentHealth(context.Context) []health.Component {
	return []health.Component{{Name: "Prices", State: health.Ready, Reason: "Read"}}
}

func (t tag) FetchRemoteState(ctx context.Context, r reconcile.Reader, rc reconcile.ReconcileContext[*widget.Widget]) priced {
	if t.past != nil {
		r = t.past
	}
	return priced{reconcile.FetchDerived(ctx, r, prices, client.InNamespace(rc.Object.Namespace), client.MatchingLabels{onSale: "true"})}
}

func (tag) PlanResources(_ context.Context, rc reconcile.ReconcileContext[*widget.Widget], p priced) (plan reconcile.PlanResult, _ error) {
	plan.Apply(&corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{Name: rc.Object.Name + "-tag"},
		Data:       map[string]string{"prices": strings.Join(p.Value, ","), "message": rc.Object.Spec.Message},
	})
	return plan, nil
}

func tagSystem(unwatched bool) reconciletest.System {
	return reconciletest.System{
		Setup: func(mgr manager.Manager) error {
			t := tag{}
			if unwatched {
				t.past = mgr.GetClient()
			}
			return controller.New("tag", t).Owns(&corev1.ConfigMap{}).Reads(&corev1.ConfigMap{}, controller.Derives(prices)).Build().SetupWithManager(mgr)
		},
		Scheme: widgetScheme(),
		CRDs:   []*apiextensionsv1.CustomResourceDefinition{widget.CRD()},
		Given:  []client.Object{offer("apples"), offer("pears")},
		Owners: []client.Object{&widget.Widget{ObjectMeta: metav1.ObjectMeta{Name: "web"}, Spec: widget.Spec{Message: "hello"}}},
		Change: func(owner client.Object) { owner.(*widget.Widget).Spec.Message = "good bye" },
	}
}

// TestConvergeWithADerivedRead checks that an operator with a derived value of a selection has no findings.
func TestConvergeWithADerivedRead(t *testing.T) {
	t.Parallel()
	s := tagSystem(false)
	s.Cases = 100
	reconciletest.Converge(t, s)
}

// TestCatchesADerivedReadWithoutAWatch checks that a derived value without a watch is found.
func TestCatchesADerivedReadWithoutAWatch(t *testing.T) {
	t.Parallel()
	const watch check.Check = "watch"
	out, err := reconciletest.ExploreUntil(t.Context(), tagSystem(true), watch)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.ContainsFunc(out.Findings, func(f reconciletest.Finding) bool { return f.Check == watch }) {
		t.Errorf("%d cases, none found by the check %q; findings: %v", out.Cases, watch, out.Findings)
	}
}
