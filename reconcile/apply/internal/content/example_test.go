package content_test

import (
	"fmt"

	appsv1 "k8s.io/api/apps/v1"

	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/content"
)

func Example() {
	deployment := &appsv1.Deployment{Spec: appsv1.DeploymentSpec{Replicas: new(int32(0))}}
	deployment.Name = "web"
	intent, err := content.NewEncoder().Intent(deployment)
	if err != nil {
		panic(err)
	}
	content.StripIdentity(intent)
	fmt.Println(intent)
	// Output: map[spec:map[replicas:0]]
}
