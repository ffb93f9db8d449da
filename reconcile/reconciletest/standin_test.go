package reconciletest_test

import (
	"context"
	"fmt"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/reconcilekit/reconcilekit/health"
	"github.com/reconcilekit/reconcilekit/health/inspect"
	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest"
)

// A stand-in simulates another controller: it reads the cluster and writes what that controller would write.
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

// TestStandInsMakeReady checks that the objects are ready after the stand-ins wrote them, and that the stand-ins finish.
func TestStandInsMakeReady(t *testing.T) {
	t.Parallel()
	meta := metav1.ObjectMeta{Namespace: "shop", Name: "web", Generation: 1}
	for name, test := range map[string]struct {
		object  client.Object
		execute reconciletest.StandIn
	}{
		"Deployment":  {&appsv1.Deployment{ObjectMeta: meta}, reconciletest.DeploymentsAvailable},
		"StatefulSet": {&appsv1.StatefulSet{ObjectMeta: meta}, reconciletest.StatefulSetsReady},
		"Job":         {&batchv1.Job{ObjectMeta: meta}, reconciletest.JobsComplete},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			writes := 0
			c := fake.NewClientBuilder().WithObjects(test.object).WithStatusSubresource(test.object).WithInterceptorFuncs(interceptor.Funcs{
				SubResourceUpdate: func(
					ctx context.Context, c client.Client, name string, o client.Object, options ...client.SubResourceUpdateOption,
				) error {
					writes++
					return c.SubResource(name).Update(ctx, o, options...)
				},
			}).Build()
			for range 3 {
				if err := test.execute(t.Context(), c); err != nil {
					t.Fatal(err)
				}
			}
			if err := c.Get(t.Context(), client.ObjectKeyFromObject(test.object), test.object); err != nil {
				t.Fatal(err)
			}
			if got := inspect.Of(test.object); got.GetState() != health.Ready || writes != 1 {
				t.Errorf("got %s %q after %d writes, want Ready after one", got.GetState(), got.GetMessage(), writes)
			}
		})
	}
}
