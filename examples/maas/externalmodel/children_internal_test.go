package externalmodel

import (
	"strings"
	"testing"

	"github.com/reconcilekit/reconcilekit/reconcile"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/reconcilekit/reconcilekit/examples/internal/expect"
	maasv1alpha1 "github.com/reconcilekit/reconcilekit/examples/maas/api/v1alpha1"
	"github.com/reconcilekit/reconcilekit/examples/maas/models"
)

const metadata = `
metadata:
  namespace: llm
  name: chat
  labels: {app.kubernetes.io/managed-by: maas-external-model-reconciler, maas.opendatahub.io/external-model: chat}
`

// childrenOf returns the expected children, with the given port and port entry of the ServiceEntry.
func childrenOf(port, entry string) []string {
	backend := `
    backendRefs: [{name: chat, port: ` + port + `}]
    filters: [{type: RequestHeaderModifier, requestHeaderModifier: {set: [{name: Host, value: api.example.com}]}}]
    timeouts: {request: 300s}`
	return []string{`
apiVersion: v1
kind: Service` + metadata + `
spec: {type: ExternalName, externalName: api.example.com, ports: [{port: ` + port + `, targetPort: ` + port + `}]}`, `
apiVersion: networking.istio.io/v1
kind: ServiceEntry` + metadata + `
spec: {hosts: [api.example.com], location: MESH_EXTERNAL, resolution: DNS, ports: [{number: ` + port + `, ` + entry + `}]}`, `
apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute` + metadata + `
spec:
  parentRefs: [{name: gate, namespace: ingress}]
  rules:
  - matches: [{path: {type: PathPrefix, value: /llm/chat}}]` + backend + `
  - matches: [{headers: [{type: Exact, name: X-Gateway-Model-Name, value: gpt-4o}]}]` + backend}
}

// TestChildren compares the fields of the children of an ExternalModel with those of the product.
func TestChildren(t *testing.T) {
	t.Parallel()
	scheme := runtime.NewScheme()
	if err := models.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		annotations map[string]string
		want        []string
	}{
		"with TLS": {want: append(childrenOf("443", "name: https, protocol: HTTPS"), `
apiVersion: networking.istio.io/v1
kind: DestinationRule`+metadata+`
spec: {host: api.example.com, trafficPolicy: {tls: {mode: SIMPLE}}}`)},
		"without": {
			annotations: map[string]string{"maas.opendatahub.io/tls": "false", "maas.opendatahub.io/port": "8000"},
			want:        childrenOf("8000", "name: http, protocol: HTTP"),
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			set, err := models.Children(files, declared...)
			if err != nil {
				t.Fatal(err)
			}
			rc := reconcile.ReconcileContext[*maasv1alpha1.ExternalModel]{Object: &maasv1alpha1.ExternalModel{
				ObjectMeta: metav1.ObjectMeta{Namespace: "llm", Name: "chat", Annotations: c.annotations},
				Spec:       &maasv1alpha1.ExternalModelSpec{Endpoint: "api.example.com", TargetModel: "gpt-4o"},
			}}
			plan, err := (&Reconciler{models.Key("ingress", "gate"), set}).PlanResources(t.Context(), rc, observed{})
			if err != nil {
				t.Fatal(err)
			}
			if diff := expect.Children(t, scheme, strings.Join(c.want, "\n---\n"), plan); diff != "" {
				t.Errorf("children (-want +got):\n%s", diff)
			}
		})
	}
}
