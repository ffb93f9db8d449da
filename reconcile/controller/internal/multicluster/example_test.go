package multicluster_test

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/reconcilekit/reconcilekit/internal/widget"
	"github.com/reconcilekit/reconcilekit/reconcile/controller/internal/declaration"
	"github.com/reconcilekit/reconcilekit/reconcile/controller/internal/multicluster"
)

// No owner reference reaches another cluster.
func ExampleCheck() {
	scheme := runtime.NewScheme()
	if err := widget.AddToScheme(scheme); err != nil {
		fmt.Println(err)
		return
	}
	if err := corev1.AddToScheme(scheme); err != nil {
		fmt.Println(err)
		return
	}
	kinds, err := declaration.Resolve("shop", scheme, []declaration.Declaration{
		{Purpose: declaration.PurposeFor, Object: &widget.Widget{}}, {Purpose: declaration.PurposeOwns, Object: &corev1.Secret{}},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(multicluster.Check(&multicluster.Manager{}, kinds))
	// Output:
	// controller "shop": Owns of /v1/Secret: the owners are in another cluster, which no owner reference reaches: declare it with Writes and plan it with ApplyWithoutOwnerRef
}
