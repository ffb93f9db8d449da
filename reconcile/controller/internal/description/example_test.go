package description_test

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/kubernetes/scheme"

	"github.com/reconcilekit/reconcilekit/reconcile/controller/internal/declaration"
	"github.com/reconcilekit/reconcilekit/reconcile/controller/internal/description"
)

func ExampleRules() {
	kinds, err := declaration.Resolve("shop", scheme.Scheme, []declaration.Declaration{
		{Purpose: declaration.PurposeReads, Object: &corev1.Secret{}, Source: "shop.go:12"},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, rule := range description.Rules(kinds) {
		fmt.Println(rule.Resources, rule.Verbs)
	}
	// Output:
	// [secrets] [list watch]
}
