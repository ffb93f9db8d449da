package run_test

import (
	"context"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/internal/description"
	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/internal/run"
)

// several adds controllers of one kind. Each creates its own Secret for each ConfigMap.
func several(mgr manager.Manager) error {
	for _, name := range []string{"third", "first", "second"} {
		err := ctrl.NewControllerManagedBy(mgr).Named(name).For(&corev1.ConfigMap{}).Complete(reconcile.Func(
			func(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
				secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: request.Namespace, Name: request.Name + "-" + name}}
				return reconcile.Result{}, client.IgnoreAlreadyExists(mgr.GetClient().Create(ctx, secret))
			}))
		if err != nil {
			return err
		}
	}
	return nil
}

// TestOrderOfPasses checks that a repeated case has the same order of reconciliations although sources of controllers start concurrently.
func TestOrderOfPasses(t *testing.T) {
	t.Parallel()
	system, err := description.Prepare(description.System{
		Setup: several,
		Owners: []client.Object{
			&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "a"}}, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "b"}},
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		"pass 1: create secrets default/a-first#1", "pass 2: create secrets default/a-second#1", "pass 3: create secrets default/a-third#1",
		"pass 4: create secrets default/b-first#1", "pass 5: create secrets default/b-second#1", "pass 6: create secrets default/b-third#1",
		"6 passes",
	}
	for range 20 {
		r := run.Execute(t.Context(), system, run.Spec{Steps: []description.Step{description.StepA}}, "")
		if r.Err != nil {
			t.Fatal(r.Err)
		}
		r.Last.End()
		if diff := cmp.Diff(want, r.Trace()); diff != "" {
			t.Fatalf("(-want +got):\n%s\n%s", diff, strings.Join(r.Trace(), "\n"))
		}
	}
}
