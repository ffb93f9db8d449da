package search_test

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
	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/internal/finding"
	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/internal/search"
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
	out, err := search.Explore(context.Background(), description.System{
		Setup:  copies,
		Owners: []client.Object{&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "shop"}}},
		Cases:  5,
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, found := range out.Findings {
		if found.Check == finding.CheckOrphan && strings.HasPrefix(found.Case, "no fault") {
			fmt.Println(found)
		}
	}
	// Output:
	// [orphan] no fault, A-delete: Secret default/shop outlives its owner; if it is meant to, add "Secret default/shop" to System.Outlives
}
