package declaration_test

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/kubernetes/scheme"

	"github.com/reconcilekit/reconcilekit/reconcile/controller/internal/declaration"
)

func ExampleResolve() {
	kinds, err := declaration.Resolve("shop", scheme.Scheme, []declaration.Declaration{
		{Purpose: declaration.PurposeOwns, Object: &corev1.Service{}, Source: "shop.go:12"},
		{Purpose: declaration.PurposeReads, Object: &corev1.Service{}, Source: "shop.go:13"},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, k := range kinds.Kinds {
		fmt.Println(declaration.Print(k.GroupVersionKind), k.Has(declaration.PurposeReads), k.Representation)
	}
	// Output:
	// /v1/Service true typed
}
