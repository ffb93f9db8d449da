package main

import (
	"testing"

	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clientscheme "k8s.io/client-go/kubernetes/scheme"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/reconcilekit/reconcilekit/examples/trustyai/api/foreign"
	"github.com/reconcilekit/reconcilekit/examples/trustyai/api/v1"
	"github.com/reconcilekit/reconcilekit/examples/trustyai/images"
	"github.com/reconcilekit/reconcilekit/examples/trustyai/tas"
)

// TestServiceConverges: whatever goes wrong on the way, a service ends as it should, and so do the models that it watches. Of the
// cases, 10 are drawn; RECONCILETEST_CASES=all runs all.
func TestServiceConverges(t *testing.T) {
	t.Parallel()
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{clientscheme.AddToScheme, v1.AddToScheme, foreign.AddToScheme} {
		if err := add(scheme); err != nil {
			t.Fatal(err)
		}
	}
	model := &foreign.InferenceService{ObjectMeta: metav1.ObjectMeta{
		Namespace: "default", Name: "model", Annotations: map[string]string{"serving.kserve.io/deploymentMode": "Standard"},
	}}
	config := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: images.ConfigMap}, Data: map[string]string{
		images.Service: "img/tas:1", images.Proxy: "img/krp:1",
	}}
	service := &v1.TrustyAIService{ObjectMeta: metav1.ObjectMeta{Name: "svc"}, Spec: v1.TrustyAIServiceSpec{
		Storage: v1.Storage{Format: v1.FormatPVC, Folder: "/data", Size: "1Gi"}, Metrics: v1.Metrics{Schedule: "5s"},
	}}
	reconciletest.Converge(t, reconciletest.System{
		Setup: func(mgr ctrl.Manager) error {
			builder, err := tas.New(scheme, "default")
			if err != nil {
				return err
			}
			return builder.SetupWithManager(mgr)
		},
		Scheme:   scheme,
		CRDPaths: []string{"config/crd", "config/foreign"},
		Given:    []client.Object{config, model},
		Owners:   []client.Object{service},
		Change:   func(o client.Object) { o.(*v1.TrustyAIService).Spec.Metrics.Schedule = "10s" },
		Cases:    10,
	})
}
