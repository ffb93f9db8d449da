package drift_test

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/internal/description"
	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/internal/drift"
	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/internal/run"
	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/internal/story"
	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/internal/verdict"
)

// copies is an operator that keeps a Secret for each ConfigMap, and does not watch the Secrets.
func copies(mgr manager.Manager) error {
	return ctrl.NewControllerManagedBy(mgr).For(&corev1.ConfigMap{}).Complete(reconcile.Func(
		func(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
			var owner corev1.ConfigMap
			if err := mgr.GetClient().Get(ctx, request.NamespacedName, &owner); err != nil {
				return reconcile.Result{}, client.IgnoreNotFound(err)
			}
			secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: owner.Namespace, Name: owner.Name}}
			return reconcile.Result{}, client.IgnoreAlreadyExists(mgr.GetClient().Create(ctx, secret))
		}))
}

func Example() {
	ctx := context.Background()
	system, err := description.Prepare(description.System{
		Setup:  copies,
		Owners: []client.Object{&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "shop"}}},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	steps := []description.Step{description.StepA}
	atRest := run.Play(ctx, system, run.Plot{Steps: steps}, "")
	defer atRest.Last.End()
	judge := verdict.New(system)
	judge.Probe, judge.Stories = atRest.World, []*story.Story{story.Of(steps, atRest)}
	for _, c := range drift.Cases(judge) {
		if c.Name == "A: at rest: delete of Secret default/shop" {
			c.Act(ctx, atRest)
		}
	}
	for _, found := range judge.Findings() {
		fmt.Println(found)
	}
	// Output:
	// [watch] A: at rest: delete of Secret default/shop: nobody is woken by a delete of Secret default/shop: only a pass that comes for another reason sends create secrets default/shop
}
