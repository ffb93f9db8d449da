package reconciletest_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/manager"

	"github.com/reconcilekit/reconcilekit/internal/widget"
	"github.com/reconcilekit/reconcilekit/reconcile/controller"
	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest"
	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/lint"
	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/requests"
)

// witness is a testing.TB that records failures.
type witness struct {
	testing.TB

	failures []string
}

func (w *witness) Helper()             {}
func (w *witness) Logf(string, ...any) {}
func (w *witness) Errorf(format string, args ...any) {
	w.failures = append(w.failures, fmt.Sprintf(format, args...))
}
func (w *witness) Error(args ...any) { w.failures = append(w.failures, fmt.Sprint(args...)) }

// fails runs a check and requires that it fails with the text.
func fails(t *testing.T, text string, check func(t testing.TB)) {
	t.Helper()
	w := &witness{TB: t}
	check(w)
	if got := strings.Join(w.failures, "\n"); !strings.Contains(got, text) {
		t.Errorf("want a failure with %q, got %q", text, got)
	}
}

func TestSteady(t *testing.T) {
	t.Parallel()
	reconciletest.Steady(t, shopSystem(), reconciletest.Budget{})
	fails(t, "list configmaps", func(t testing.TB) { // the operator lists its sources live in each reconciliation
		reconciletest.Steady(t, plainSystem(noBug), reconciletest.Budget{})
	})
	fails(t, "want at most 1 allocations", func(t testing.TB) {
		reconciletest.Steady(t, shopSystem(), reconciletest.Budget{Allocations: 1})
	})
}

// TestConvergeWithoutPasses checks that Converge fails if no controller selects the owners.
func TestConvergeWithoutPasses(t *testing.T) {
	t.Parallel()
	system := shopSystem()
	system.Cases = 1
	system.Setup = func(mgr manager.Manager) error {
		return controller.New("shop", shop{}).Owners(controller.Filter(client.MatchingLabels{"tier": "gold"})).
			Owns(&appsv1.Deployment{}).Owns(&corev1.Service{}).Owns(&corev1.ConfigMap{}).Build().SetupWithManager(mgr)
	}
	fails(t, "no run reconciled an owner", func(t testing.TB) { reconciletest.Converge(t, system) })
}

func TestWrites(t *testing.T) {
	t.Parallel()
	change := func(o client.Object) { o.(*widget.Widget).Spec.Count = 4 }
	const most = 2 // the new ConfigMap and the status
	writes := reconciletest.Writes(t, shopSystem(), change, most)
	isNew := func(r requests.Request) bool { return r.String() == "apply configmaps default/web-3" }
	if !slices.ContainsFunc(writes, isNew) {
		t.Errorf("want the apply of web-3 among the writes, got %v", writes)
	}
	fails(t, "want at most 0 writes", func(t testing.TB) { reconciletest.Writes(t, shopSystem(), change, 0) })
}

func TestScenario(t *testing.T) {
	t.Parallel()
	s := reconciletest.Scenario{
		System: shopSystem(),
		Expect: []client.Object{
			&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "web-2"}, Data: map[string]string{"message": "hello"}},
		},
		ExpectYAML: `
apiVersion: test.reconcilekit.dev/v1
kind: Widget
metadata: {name: web}
status:
  conditions:
  - {type: Ready, status: "True"}
`,
		Gone: []client.Object{&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "web-3"}}},
	}
	s.Run(t)
	s.Gone = []client.Object{&appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Name: "web"}}}
	fails(t, "want no Deployment.apps default/web", s.Run)
	s.Gone = nil
	s.Expect = []client.Object{
		&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "web-2"}, Data: map[string]string{"message": "another"}},
	}
	fails(t, "ConfigMap default/web-2 (-want +got)", s.Run)
	s.Expect, s.Writes = nil, []string{"apply configmaps default/web-0"}
	fails(t, "writes (-want +got)", s.Run)
}

func TestRights(t *testing.T) {
	t.Parallel()
	all := func(group string, resources ...string) rbacv1.PolicyRule {
		return rbacv1.PolicyRule{APIGroups: []string{group}, Resources: resources, Verbs: []string{"*"}}
	}
	s := reconciletest.Scenario{System: shopSystem(), Expect: []client.Object{
		&appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Name: "web"}},
	}}
	s.System.Rules = []rbacv1.PolicyRule{
		all("", "configmaps", "services"), all("apps", "deployments"), all(widget.GroupVersion.Group, "widgets", "widgets/status"),
	}
	s.Run(t)
	s.System.Rules[1].Verbs = []string{"get", "list", "watch"}
	fails(t, "want Deployment.apps default/web, but it does not exist", s.Run)
}

func TestPurity(t *testing.T) {
	t.Parallel()
	type input struct {
		Data  map[string]string
		Names []string
	}
	given := input{Data: map[string]string{"a": "1", "b": "2", "c": "3"}, Names: []string{"x", "y", "z"}}
	sortedKeys := func(i input) any {
		var keys []string
		for key := range i.Data {
			keys = append(keys, key)
		}
		slices.Sort(keys)
		return keys
	}
	lint.Purity(t, given, sortedKeys, lint.Shuffle{"Names"})
	fails(t, "returns another result", func(t testing.TB) {
		lint.Purity(t, given, func(i input) any {
			var keys []string
			for key := range i.Data {
				keys = append(keys, key)
			}
			return keys
		})
	})
	fails(t, "1 of its lists in another order", func(t testing.TB) {
		lint.Purity(t, given, func(i input) any { return i.Names }, lint.Shuffle{"Names"})
	})
	fails(t, "the function changed its input", func(t testing.TB) {
		lint.Purity(t, given, func(i input) any {
			i.Data["d"] = "4"
			return nil
		})
	})
}

// exampleT is the test that runs the example.
var exampleT testing.TB

func TestExampleConverge(t *testing.T) {
	exampleT = t
	ExampleConverge()
}

// Without the CRD, the status is atomic. Conditions that are not in a map list must be removed, too.
func TestConvergeWithoutACRD(t *testing.T) {
	t.Parallel()
	reconciletest.Converge(t, reconciletest.System{
		Setup:  shopSystem().Setup,
		Scheme: widgetScheme(),
		Owners: []client.Object{&widget.Widget{ObjectMeta: metav1.ObjectMeta{Name: "web"}, Spec: widget.Spec{Count: 3}}},
		Change: func(o client.Object) { o.(*widget.Widget).Spec.Count = 1 },
	})
}
