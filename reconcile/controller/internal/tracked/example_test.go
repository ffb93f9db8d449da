package tracked_test

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"github.com/reconcilekit/reconcilekit/reconcile/controller/internal/declaration"
	"github.com/reconcilekit/reconcilekit/reconcile/controller/internal/tracked"
)

func ExampleReads_Begin() {
	kinds, err := declaration.Resolve("shop", scheme.Scheme, []declaration.Declaration{
		{Purpose: declaration.PurposeReads, Object: &corev1.Secret{}, Source: "shop.go:12"},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	reads := tracked.New(kinds, fake.NewClientBuilder().Build(), 0, tracked.Answers{})
	reader, end := reads.Begin(types.NamespacedName{Namespace: "shop", Name: "web"})
	defer end()
	err = reader.Get(context.Background(), types.NamespacedName{Namespace: "shop", Name: "settings"}, &corev1.ConfigMap{})
	fmt.Println(err)
	// Output:
	// /v1/ConfigMap is not declared: add Reads(&v1.ConfigMap{}) to the builder of controller "shop"
}
