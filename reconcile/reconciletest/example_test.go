package reconciletest_test

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clientscheme "k8s.io/client-go/kubernetes/scheme"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/reconcilekit/reconcilekit/reconcile"
	"github.com/reconcilekit/reconcilekit/reconcile/controller"
	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest"
)

// places reconciles PersistentVolumeClaims. Each gets a ConfigMap with the location of its backup.
type places struct{}

type claim = reconcile.ReconcileContext[*corev1.PersistentVolumeClaim]

// FetchRemoteState reads nothing.
func (places) FetchRemoteState(context.Context, reconcile.Reader, claim) struct{} { return struct{}{} }

// PlanResources plans the ConfigMap.
func (places) PlanResources(_ context.Context, rc claim, _ struct{}) (plan reconcile.PlanResult, _ error) {
	plan.Apply(&corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{Namespace: rc.Object.Namespace, Name: rc.Object.Name},
		Data:       map[string]string{"bucket": rc.Object.Labels["bucket"]},
	})
	return plan, nil
}

// This is the entire test of a controller.
func ExampleConverge() {
	t := exampleT // the parameter of the test function
	reconciletest.Converge(t, reconciletest.System{
		Setup: func(mgr ctrl.Manager) error { // the setup that main calls, too
			return controller.New("places", places{}).Owns(&corev1.ConfigMap{}).Build().SetupWithManager(mgr)
		},
		Scheme: clientscheme.Scheme,
		Owners: []client.Object{&corev1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{
			Name: "web", Labels: map[string]string{"bucket": "east"},
		}}},
		Change: func(o client.Object) { o.SetLabels(map[string]string{"bucket": "west"}) },
	})
}
