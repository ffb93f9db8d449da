package modelref

import (
	"slices"
	"testing"

	"github.com/reconcilekit/reconcilekit/reconcile"
	"github.com/reconcilekit/reconcilekit/reconcile/apply"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"

	maasv1alpha1 "github.com/reconcilekit/reconcilekit/examples/maas/api/v1alpha1"
	"github.com/reconcilekit/reconcilekit/examples/maas/models"
)

// TestEndpoint checks the endpoint of a route that is accepted by a gateway in another namespace.
func TestEndpoint(t *testing.T) {
	t.Parallel()
	for override, want := range map[string]string{"": "https://maas.example.com/llm/gpt", "https://mine": "https://mine"} {
		namespace := gatewayv1.Namespace("ingress")
		parent := gatewayv1.ParentReference{Name: "gate", Namespace: &namespace}
		route := &gatewayv1.HTTPRoute{ObjectMeta: metav1.ObjectMeta{Namespace: "llm", Name: "gpt"}}
		route.Spec.ParentRefs, route.Spec.Hostnames = []gatewayv1.ParentReference{parent}, []gatewayv1.Hostname{"maas.example.com"}
		route.Status.Parents = []gatewayv1.RouteParentStatus{{
			ParentRef: parent, Conditions: []metav1.Condition{{Type: string(gatewayv1.RouteConditionAccepted), Status: metav1.ConditionTrue}},
		}}
		obs := &observation{Config: models.Config{Gateway: models.Key("ingress", "gate")}, model: &maasv1alpha1.MaaSModelRef{
			ObjectMeta: metav1.ObjectMeta{Namespace: "llm", Name: "chat"},
			Spec: &maasv1alpha1.MaaSModelRefSpec{
				ModelRef: maasv1alpha1.ModelReference{Kind: maasv1alpha1.BackendExternalModel, Name: "gpt"}, EndpointOverride: override,
			},
		}}
		obs.route.Value = route
		var status maasv1alpha1.MaaSModelRefStatus
		if phase, _, message := obs.outcome(&status); phase != maasv1alpha1.ModelReady || status.Endpoint != want {
			t.Errorf("override %q: got %s %q, endpoint %q, want Ready and %q", override, phase, message, status.Endpoint, want)
		}
	}
}

// TestFinalize checks that deleting a model deletes only those of its policies that no other controller is responsible
// for.
func TestFinalize(t *testing.T) {
	t.Parallel()
	policy := func(name string, annotations map[string]string, owners ...metav1.OwnerReference) unstructured.Unstructured {
		u := models.Kind(models.AuthPolicy)
		u.SetName(name)
		u.SetAnnotations(annotations)
		u.SetOwnerReferences(owners)
		return *u
	}
	controls := true
	obs := &observation{policies: []unstructured.Unstructured{
		policy("remaining children", nil),
		policy("opted out", map[string]string{models.OptOutAnnotation: "false"}),
		policy("of a group", map[string]string{apply.GroupAnnotation: "x"}),
		policy("controlled", nil, metav1.OwnerReference{UID: "1", Controller: &controls}),
	}}
	plan, err := (&Reconciler{}).Finalize(t.Context(), reconcile.ReconcileContext[*maasv1alpha1.MaaSModelRef]{}, obs)
	if err != nil || plan.RequeueAfter != models.LeaveInterval {
		t.Errorf("got error %v and requeue after %s, want requeue after %s", err, plan.RequeueAfter, models.LeaveInterval)
	}
	var got []string
	for _, d := range plan.Deletes {
		got = append(got, d.Object.GetName())
	}
	if want := []string{"remaining children"}; !slices.Equal(got, want) {
		t.Errorf("deletes %q, want %q", got, want)
	}
}
