package reconcile_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"github.com/reconcilekit/reconcilekit/health"
	"github.com/reconcilekit/reconcilekit/reconcile"
	"github.com/reconcilekit/reconcilekit/reconcile/apply"
)

// parts reconciles PersistentVolumeClaims. An annotation sets the number of ConfigMaps for each.
type parts struct{}

type claim = reconcile.ReconcileContext[*corev1.PersistentVolumeClaim]

// FetchRemoteState reads nothing.
func (parts) FetchRemoteState(context.Context, reconcile.Reader, claim) struct{} { return struct{}{} }

// PlanResources lists everything that must exist.
func (parts) PlanResources(_ context.Context, rc claim, _ struct{}) (plan reconcile.PlanResult, _ error) {
	text := rc.Object.Annotations["example.com/parts"]
	count, err := strconv.Atoi(text)
	if err != nil {
		return plan, health.NewError(health.InvalidSpec, "InvalidParts", fmt.Sprintf("annotation example.com/parts %q: want a number", text), err)
	}
	for i := range count {
		plan.Apply(&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: rc.Object.Namespace, Name: fmt.Sprintf("%s-%d", rc.Object.Name, i)}})
	}
	return plan, nil
}

// The plan is a value, so a test of the domain logic needs neither a cluster nor a fake client.
func ExamplePlanResult() {
	rc := claim{Object: &corev1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{
		Namespace: "shop", Name: "cart", Annotations: map[string]string{"example.com/parts": "2"},
	}}}
	plan, err := parts{}.PlanResources(context.Background(), rc, struct{}{})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, child := range plan.Children {
		fmt.Println(child.Object.GetNamespace(), child.Object.GetName(), child.Mode == apply.Own)
	}
	rc.Object.Annotations["example.com/parts"] = "many"
	_, err = parts{}.PlanResources(context.Background(), rc, struct{}{})
	fmt.Println(err)
	// Output:
	// shop cart-0 true
	// shop cart-1 true
	// InvalidParts: annotation example.com/parts "many": want a number
}

// A failed read becomes the health of a component. A user must create a missing upstream dependency.
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

// An outcome combines the results of the parts of a reconciliation. A requeue that is due before the backoff replaces
// the retry, and the error is returned for the log.
func ExampleOutcome() {
	var outcome reconcile.Outcome
	outcome.Requeue(time.Hour)
	outcome.Requeue(10 * time.Second)
	outcome.Fail(errors.New("connection refused"))

	result, err, handled := outcome.Result(time.Minute)
	fmt.Println(result.RequeueAfter, err, handled)
	// Output: 10s <nil> connection refused
}

// A derived value is computed once for all owners that read it, here the zones of all nodes.
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
