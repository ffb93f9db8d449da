package reconciletest_test

import (
	"context"
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest"
)

// A stand-in plays another controller: it looks at the world and does what that one would do.
func ExampleDeploymentsAvailable() {
	web := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "web"}}
	c := fake.NewClientBuilder().WithObjects(web).WithStatusSubresource(web).Build()
	if err := reconciletest.DeploymentsAvailable(context.Background(), c); err != nil {
		fmt.Println(err)
	}
	if err := c.Get(context.Background(), client.ObjectKeyFromObject(web), web); err != nil {
		fmt.Println(err)
	}
	fmt.Println(web.Status.AvailableReplicas, web.Status.Conditions[0].Type)
	// Output: 1 Available
}
