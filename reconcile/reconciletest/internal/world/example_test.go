package world_test

import (
	"context"
	"fmt"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/manager"

	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/internal/description"
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
	for _, step := range []description.Step{description.StepA, description.StepDelete} {
		if err := w.Perform(context.Background(), step, step == description.StepA); err != nil {
			fmt.Println(err)
		}
		state, err := w.State()
		fmt.Println(step, slices.Sorted(maps.Keys(state)), err)
	}
	// Output:
	// A [ConfigMap default/shop] <nil>
	// delete [] <nil>
}
