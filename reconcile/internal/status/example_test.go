package status_test

import (
	"context"
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"github.com/reconcilekit/reconcilekit/reconcile/internal/status"
)

// The status is written where it changed, and nothing is sent where it did not.
func ExampleWriter_WriteStatus() {
	ctx := context.Background()
	scheme := runtime.NewScheme()
	if err := appsv1.AddToScheme(scheme); err != nil {
		panic(err)
	}
	owner := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "cart", UID: "1"}}
	c := fake.NewClientBuilder().WithScheme(scheme).WithObjects(owner).WithStatusSubresource(owner).Build()
	writer, err := status.New(c, c, status.Options{FieldManager: "carts"})
	if err != nil {
		panic(err)
	}
	for range 2 {
		before, after := &appsv1.Deployment{}, &appsv1.Deployment{}
		if err := c.Get(ctx, client.ObjectKeyFromObject(owner), before); err != nil {
			panic(err)
		}
		*after = *before
		after.Status.Replicas = 3
		written, err := writer.WriteStatus(ctx, before, after, nil)
		fmt.Println(written, err)
	}
	// Output:
	// true <nil>
	// false <nil>
}
