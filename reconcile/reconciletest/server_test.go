package reconciletest_test

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/reconcilekit/reconcilekit/internal/widget"
	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest"
)

// The same scenario as in the fake world, on a real API server.
func TestScenarioOnServer(t *testing.T) {
	t.Parallel()
	server := &reconciletest.Environment{
		Scheme: widgetScheme(), CRDs: []*apiextensionsv1.CustomResourceDefinition{widget.CRD()},
	}
	server.Setup(t)
	s := reconciletest.Scenario{System: shopSystem(), Expect: []client.Object{
		&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "web-2"}, Data: map[string]string{"message": "hello"}},
	}}
	s.System.Environment = server
	s.Run(t)
}
