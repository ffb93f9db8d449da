package served_test

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/client-go/kubernetes/scheme"

	"github.com/reconcilekit/reconcilekit/reconcile/controller/internal/declaration"
	"github.com/reconcilekit/reconcilekit/reconcile/controller/internal/served"
)

func ExampleLocate() {
	kinds, err := declaration.Resolve("shop", scheme.Scheme, []declaration.Declaration{
		{Purpose: declaration.PurposeFor, Object: &corev1.Node{}, Source: "shop.go:12"},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	mapper := meta.NewDefaultRESTMapper(nil)
	mapper.Add(corev1.SchemeGroupVersion.WithKind("Node"), meta.RESTScopeRoot)
	fmt.Println(served.Locate(&place{mapper: mapper}, kinds), kinds.Kinds[0].Cluster.Load())
	// Output:
	// <nil> true
}
