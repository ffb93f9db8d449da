package reconciletest_test

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/manager"

	"github.com/reconcilekit/reconcilekit/internal/widget"
	"github.com/reconcilekit/reconcilekit/reconcile"
	"github.com/reconcilekit/reconcilekit/reconcile/controller"
	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest"
	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/environment"
	"github.com/reconcilekit/reconcilekit/reconcile/record"
)

// changedShop is shop after a change of its code; reading lets it read one object more.
type changedShop struct {
	shop
	reading bool
}

func (s changedShop) FetchRemoteState(
	ctx context.Context, r reconcile.Reader, rc reconcile.ReconcileContext[*widget.Widget],
) observed {
	if s.reading {
		reconcile.Fetch(ctx, r, client.ObjectKey{Namespace: rc.Object.Namespace, Name: "more"}, &corev1.ConfigMap{})
	}
	return s.shop.FetchRemoteState(ctx, r, rc)
}

func (s changedShop) PlanResources(
	ctx context.Context, rc reconcile.ReconcileContext[*widget.Widget], o observed,
) (reconcile.PlanResult, error) {
	plan, err := s.shop.PlanResources(ctx, rc, o)
	if !s.reading {
		plan.Apply(&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "new"}})
	}
	return plan, err
}

func shopSetup(reconciler reconcile.Reconciler[*widget.Widget, observed, observed]) func(manager.Manager) error {
	return func(mgr manager.Manager) error {
		return controller.New("shop", reconciler).
			Owns(&appsv1.Deployment{}).Owns(&corev1.Service{}).Owns(&corev1.ConfigMap{}).SetupWithManager(mgr)
	}
}

// setupRecorded is what an operator with a flag for the folder of recordings has; docs/testing.md shows it.
func setupRecorded(dir string) func(mgr manager.Manager) error {
	return func(mgr manager.Manager) error {
		var recorder *record.Recorder // nil records nothing
		if dir != "" {
			var err error
			if recorder, err = record.New(record.Options{Dir: dir, Keep: 100, When: record.Changes}); err != nil {
				return err
			}
		}
		return controller.New("shop", shop{}).
			Owns(&appsv1.Deployment{}).Owns(&corev1.Service{}).Owns(&corev1.ConfigMap{}).
			Options(controller.Options{Record: recorder}).SetupWithManager(mgr)
	}
}

// recordShop runs the shop in a world until it is at rest and returns the recordings of its passes.
func recordShop(t *testing.T, environment *environment.Environment) []string {
	t.Helper()
	dir := t.TempDir()
	system := shopSystem()
	system.Environment = environment
	system.Setup = setupRecorded(dir)
	reconciletest.Scenario{System: system, ExpectYAML: `
apiVersion: test.reconcilekit.dev/v1
kind: Widget
metadata: {name: web}
status: {conditions: [{type: Ready, status: "True"}]}
`}.Run(t)
	files, err := filepath.Glob(filepath.Join(dir, "*.json"))
	if err != nil || len(files) < 2 {
		t.Fatalf("want a recording of each pass, got %v, %v", files, err)
	}
	return files
}

func TestReplay(t *testing.T) {
	t.Parallel()
	files := recordShop(t, nil)
	system := shopSystem()
	system.Owners = nil
	reconciletest.Replay(t, system, files...)
	system.Setup = setupRecorded("") // also without a recorder
	reconciletest.Replay(t, system, files...)

	system.Setup = shopSetup(changedShop{})
	fails(t, `"name": "new"`, func(t testing.TB) { reconciletest.Replay(t, system, files[0]) })
	system.Setup = shopSetup(changedShop{reading: true})
	fails(t, "the recorded pass did not get v1/ConfigMap default/more", func(t testing.TB) { reconciletest.Replay(t, system, files[0]) })
	system.Setup = plainSystem(noBug).Setup
	fails(t, `it is a pass of controller "shop"; Setup has set up: `, func(t testing.TB) { reconciletest.Replay(t, system, files[0]) })

	broken := filepath.Join(t.TempDir(), "broken.json")
	if err := os.WriteFile(broken, []byte(`{"version": 7}`), 0o600); err != nil {
		t.Fatal(err)
	}
	fails(t, "version is 7, want 1", func(t testing.TB) { reconciletest.Replay(t, system, broken) })
	fails(t, "no such file", func(t testing.TB) { reconciletest.Replay(t, system, "missing.json") })
}

// What was recorded on a real API server replays without one.
func TestReplayOfARealPass(t *testing.T) {
	t.Parallel()
	env.Require(t)
	reconciletest.Replay(t, shopSystem(), recordShop(t, env)...)
}
