package view_test

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/manager"

	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/internal/description"
	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/internal/view"
	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/internal/world"
)

func Example() {
	system, err := description.Prepare(description.System{
		Setup:  func(manager.Manager) error { return nil },
		Owners: []client.Object{&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "shop"}}},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	w, err := world.New(context.Background(), system, "")
	if err != nil {
		fmt.Println(err)
		return
	}
	v, ctx, list := view.New(w, cache.Options{}), context.Background(), &corev1.ConfigMapList{}
	show := func() {
		fmt.Println(v.List(ctx, list), len(list.Items))
	}
	show()
	if err := w.Perform(ctx, description.StepA, true); err != nil {
		fmt.Println(err)
	}
	show() // not yet
	if err := v.Sync(); err != nil {
		fmt.Println(err)
	}
	show()
	// Output:
	// <nil> 0
	// <nil> 0
	// <nil> 1
}
