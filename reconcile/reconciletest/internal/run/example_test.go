package run_test

import (
	"context"
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/internal/description"
	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/internal/run"
)

// copies is an operator that keeps a Secret for each ConfigMap.
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
	system, err := description.Prepare(description.System{
		Setup:  copies,
		Owners: []client.Object{&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "shop"}}},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	r := run.Play(context.Background(), system, run.Plot{Steps: []description.Step{description.StepA}}, "")
	if r.Err != nil {
		fmt.Println(r.Err)
		return
	}
	defer r.Last.End()
	fmt.Println(strings.Join(r.Trace(), "\n"))
	// Output:
	// pass 1: create secrets default/shop#1
	// 1 passes
}
