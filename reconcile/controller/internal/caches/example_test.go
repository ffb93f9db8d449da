package caches_test

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/client-go/kubernetes/scheme"

	"github.com/reconcilekit/reconcilekit/reconcile/controller/internal/caches"
	"github.com/reconcilekit/reconcilekit/reconcile/controller/internal/declaration"
	"github.com/reconcilekit/reconcilekit/reconcile/controller/internal/shards"
)

func ExampleOptions() {
	kinds, err := declaration.Resolve("shop", scheme.Scheme, []declaration.Declaration{
		{Purpose: declaration.PurposeFor, Object: &corev1.Service{}},
		{Purpose: declaration.PurposeReads, Object: &corev1.Secret{}, Filter: &declaration.Filter{Labels: labels.SelectorFromSet(labels.Set{"app": "shop"})}},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	options, err := caches.Options(scheme.Scheme, []caches.Controller{{Kinds: kinds, Share: func(*shards.Informers) {}}})
	for object, by := range options.ByObject {
		fmt.Printf("%T %s %v\n", object, by.Label, err)
	}
	// Output:
	// *v1.Secret app=shop <nil>
}
