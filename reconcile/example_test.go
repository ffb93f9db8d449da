package reconcile_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"github.com/reconcilekit/reconcilekit/health"
	"github.com/reconcilekit/reconcilekit/internal/widget"
	"github.com/reconcilekit/reconcilekit/reconcile"
	"github.com/reconcilekit/reconcilekit/reconcile/apply"
)

// The plan is a value: a test of the domain logic needs neither a cluster nor a fake client.
func ExamplePlanResult() {
	reconciler := &widgets{}
	owner := &widget.Widget{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "cart"}, Spec: widget.Spec{Count: 2}}
	rc := reconcile.ReconcileContext[*widget.Widget]{Object: owner, Now: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)}

	observation := reconciler.ComposeState(context.Background(), rc, fetched{})
	plan, err := reconciler.PlanResources(context.Background(), rc, observation)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, child := range plan.Children {
		fmt.Println(child.Object.GetNamespace(), child.Object.GetName(), child.Mode == apply.Own)
	}
	// Output:
	// shop cart-0 true
	// shop cart-1 true
}

// A read that failed becomes the health of what was read: missing upstream is for the user to mend.
func ExampleFetchResult_Upstream() {
	missing := apierrors.NewNotFound(schema.GroupResource{Resource: "secrets"}, "password")
	secret := reconcile.FetchResult[*corev1.Secret]{Error: missing}

	component := secret.Upstream("Password", nil)
	fmt.Println(component.Name, component.GetState(), component.GetReason())
	for _, blocking := range health.Blocking([]health.Component{component}) {
		fmt.Println(blocking.Category)
	}
	// Output:
	// Password Degraded ReferenceNotFound
	// MissingUpstreamDependency
}

// An outcome joins what the parts of a pass ask for. A requeue that is due before the backoff would retry stands in for
// it, and the error is handed out to be logged.
func ExampleOutcome() {
	var outcome reconcile.Outcome
	outcome.Requeue(time.Hour)
	outcome.Requeue(10 * time.Second)
	outcome.Fail(errors.New("connection refused"))

	result, err, handled := outcome.Result(time.Minute)
	fmt.Println(result.RequeueAfter, err, handled)
	// Output: 10s <nil> connection refused
}

// A value that many owners read is computed once, one object at a time: here the zones of all nodes.
func ExampleFetchDerived() {
	zones := &reconcile.Derivation[*corev1.Node, []string]{
		Name: "zones of the cluster",
		List: &corev1.NodeList{},
		Each: func(node *corev1.Node) []string { return []string{node.Labels[corev1.LabelTopologyZone]} },
		Merge: func(parts [][]string) []string {
			all := slices.Concat(parts...)
			slices.Sort(all)
			return slices.Compact(all)
		},
	}
	in := func(name, zone string) *corev1.Node {
		return &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{corev1.LabelTopologyZone: zone}}}
	}
	reader := fake.NewClientBuilder().WithObjects(in("a", "east"), in("b", "west"), in("c", "east")).Build()
	fmt.Println(reconcile.FetchDerived(context.Background(), reader, zones).Value)
	// Output: [east west]
}
