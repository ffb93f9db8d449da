package externalmodel

import (
	"testing"

	"github.com/reconcilekit/reconcilekit/reconcile"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	maasv1alpha1 "github.com/reconcilekit/reconcilekit/examples/maas/api/v1alpha1"
	"github.com/reconcilekit/reconcilekit/examples/maas/models"
)

func TestAnnotations(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		annotations map[string]string
		port        int32 // 0: an error is expected
		secure      bool
	}{
		"none":                   {nil, defaultPort, true},
		"port":                   {map[string]string{portAnnotation: "8080"}, 8080, true},
		"largest port":           {map[string]string{portAnnotation: "65535"}, 65535, true},
		"port out of range":      {map[string]string{portAnnotation: "65536"}, 0, true},
		"port zero":              {map[string]string{portAnnotation: "0"}, 0, true},
		"port is not a number":   {map[string]string{portAnnotation: "https"}, 0, true},
		"without TLS":            {map[string]string{tlsAnnotation: "false"}, defaultPort, false},
		"with TLS":               {map[string]string{tlsAnnotation: "true"}, defaultPort, true},
		"invalid TLS annotation": {map[string]string{tlsAnnotation: "perhaps"}, 0, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			model := &maasv1alpha1.ExternalModel{
				ObjectMeta: metav1.ObjectMeta{Namespace: "llm", Name: "chat", Annotations: c.annotations},
				Spec:       &maasv1alpha1.ExternalModelSpec{Endpoint: "api.example.com"},
			}
			f, err := read(model)
			if (err != nil) != (c.port == 0) {
				t.Fatalf("got error %v", err)
			}
			set, err := models.Children(files, declared...)
			if err != nil {
				t.Fatal(err)
			}
			rc := reconcile.ReconcileContext[*maasv1alpha1.ExternalModel]{Object: model}
			plan, err := (&Reconciler{models.Key("ingress", "gate"), set}).PlanResources(t.Context(), rc, observed{})
			if c.port == 0 {
				if err == nil || len(plan.Children) > 0 {
					t.Errorf("got %d planned children and error %v", len(plan.Children), err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			rule := false
			for _, child := range plan.Children {
				u, ok := child.Object.(*unstructured.Unstructured)
				rule = rule || ok && u.GroupVersionKind() == models.DestinationRule
			}
			if f.Port != c.port || rule != c.secure {
				t.Errorf("got port %d, rule %t, want %d, %t", f.Port, rule, c.port, c.secure)
			}
		})
	}
}
