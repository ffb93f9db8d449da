package description_test

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/manager"

	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/internal/description"
)

func Example() {
	_, err := description.Prepare(description.System{})
	fmt.Println(err)

	system, err := description.Prepare(description.System{
		Setup:  func(manager.Manager) error { return nil },
		Owners: []client.Object{&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "shop"}}},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(system.Plots())
	// Output:
	// system: Setup is required: the function that adds the controllers to a manager
	// [[A] [A delete] [A delete A]]
}
