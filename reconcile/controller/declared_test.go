package controller_test

import (
	"context"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	clientscheme "k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client"
	ctrl "sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/reconcilekit/reconcilekit/health"
	"github.com/reconcilekit/reconcilekit/internal/widget"
	"github.com/reconcilekit/reconcilekit/reconcile"
	"github.com/reconcilekit/reconcilekit/reconcile/controller"
	"github.com/reconcilekit/reconcilekit/reconcile/controller/dataflow"
)

// idle is a reconciler that does nothing.
type idle struct{}

type idleState struct{}

func (idleState) GetComponentHealth(context.Context) []health.Component { return nil }

func (idle) FetchRemoteState(context.Context, reconcile.Reader, reconcile.ReconcileContext[*widget.Widget]) int {
	return 0
}

func (idle) ComposeState(context.Context, reconcile.ReconcileContext[*widget.Widget], int) idleState {
	return idleState{}
}

func (idle) PlanResources(
	context.Context, reconcile.ReconcileContext[*widget.Widget], idleState,
) (reconcile.PlanResult, error) {
	return reconcile.PlanResult{}, nil
}

func testScheme(t testing.TB) *runtime.Scheme {
	t.Helper()
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{clientscheme.AddToScheme, widget.AddToScheme} {
		if err := add(scheme); err != nil {
			t.Fatal(err)
		}
	}
	return scheme
}

func gadget() *unstructured.Unstructured {
	object := &unstructured.Unstructured{}
	object.SetGroupVersionKind(schema.GroupVersionKind{Group: "example.com", Version: "v1beta1", Kind: "Gadget"})
	return object
}

func declared() *controller.Controller {
	return controller.New("widget", idle{}).
		Watches(&corev1.Pod{}, func(context.Context, client.Object) []ctrl.Request { return nil }).
		Owns(&corev1.ConfigMap{}).
		Owns(&appsv1.Deployment{}).
		Reads(&corev1.Secret{}, controller.Filter(client.MatchingLabels{"app": "widget"})).
		Reads(controller.Metadata(corev1.SchemeGroupVersion.WithKind("Namespace"))).
		Writes(&corev1.ServiceAccount{}, controller.FieldsOnly).
		Reads(gadget(), controller.Optional).Build()
}

func page(t testing.TB) dataflow.Page {
	t.Helper()
	second := controller.New("second", idle{}).
		Writes(&rbacv1.ClusterRole{}).
		Reads(&corev1.ConfigMap{}).
		Writes(&rbacv1.Role{}, controller.NeverDeletes).
		Options(controller.Options{}).Build()
	page, err := controller.NewPage("widget-operator", testScheme(t), declared(), second)
	if err != nil {
		t.Fatal(err)
	}
	page.LeaderElection = true
	page.Services = []dataflow.Service{{Name: "webhook", Port: 443, PortName: "https"}}
	page.Webhooks = []dataflow.Webhook{{
		Name: "v.example.com", Type: "validating", Path: "/validate", FailurePolicy: "Fail",
		Service: "system/webhook", Source: "config/webhook/manifests.yaml",
	}}
	return page
}

type objectOf = runtime.Object

func genericList(version, kind string) *unstructured.UnstructuredList {
	list := &unstructured.UnstructuredList{}
	list.SetGroupVersionKind(schema.GroupVersionKind{Version: version, Kind: kind})
	return list
}

func metadataList(version, kind string) *metav1.PartialObjectMetadataList {
	list := &metav1.PartialObjectMetadataList{}
	list.SetGroupVersionKind(schema.GroupVersionKind{Version: version, Kind: kind})
	return list
}

func TestValues(t *testing.T) {
	t.Parallel()
	extract := controller.Values(func(c *corev1.ConfigMap) []string { return []string{c.Data["for"]} })
	if got := extract(&corev1.ConfigMap{Data: map[string]string{"for": "w"}}); len(got) != 1 || got[0] != "w" {
		t.Errorf("of its own kind: got %q, want w", got)
	}
	if got := extract(&corev1.Secret{}); got != nil {
		t.Errorf("of another kind: got %q, want none", got)
	}
}
