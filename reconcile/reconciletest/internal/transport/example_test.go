package transport_test

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/manager"

	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/internal/description"
	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/internal/transport"
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
	wire := transport.New(w)
	wire.Arm(&transport.Injection{Writes: true, Fault: transport.FaultConflict})
	for range 2 {
		secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "shop"}}
		fmt.Println(apierrors.IsConflict(wire.Client.Create(context.Background(), secret)))
	}
	fmt.Println(wire.Calls())
	// Output:
	// true
	// false
	// [create secrets default/shop#1 create secrets default/shop#2]
}
