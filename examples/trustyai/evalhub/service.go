package evalhub

import (
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/reconcilekit/reconcilekit/examples/trustyai/api/foreign"
)

// serverObjects returns the server, its Service and its route.
func (obs Observation) serverObjects() []client.Object {
	metrics := obs.service("-metrics", "metrics", "metrics", metricsPort)
	metrics.Annotations, metrics.Spec.Selector = nil, obs.selector("api")
	monitor := &foreign.ServiceMonitor{ObjectMeta: obs.meta(obs.names.service("-metrics"), obs.selector("metrics"))}
	monitor.Spec = apiextensionsv1.JSON{Raw: []byte(`{"endpoints":[` +
		`{"honorLabels":true,"interval":"30s","path":"/metrics","port":"metrics","scheme":"http"}],` +
		`"selector":{"matchLabels":{"app":"eval-hub","component":"metrics","instance":"` + obs.selector("")["instance"] + `"}}}`)}
	return []client.Object{obs.deployment(), obs.service("", "api", "https", 8443), metrics, monitor, obs.route("", "api")}
}

// service returns a Service for a port of the component's pods, with a certificate of the cluster.
func (obs Observation) service(suffix, component, port string, number int32) *corev1.Service {
	s := &corev1.Service{ObjectMeta: obs.meta(obs.names.service(suffix), obs.selector(component))}
	s.Annotations = map[string]string{"service.beta.openshift.io/serving-cert-secret-name": obs.names.service(suffix + "-tls")}
	s.Spec.Type, s.Spec.Selector = corev1.ServiceTypeClusterIP, obs.selector(component)
	s.Spec.Ports = []corev1.ServicePort{{Name: port, Port: number, TargetPort: intstr.FromString(port), Protocol: corev1.ProtocolTCP}}
	return s
}

func (obs Observation) route(suffix, component string) *foreign.Route {
	return &foreign.Route{
		ObjectMeta: obs.meta(long(obs.hub.Name+suffix), obs.selector(component)),
		Spec: foreign.RouteSpec{
			To: foreign.RouteTarget{Kind: "Service", Name: obs.names.service(suffix), Weight: 100}, Port: foreign.RoutePort{TargetPort: "https"},
			TLS: foreign.RouteTLS{Termination: "reencrypt", InsecureEdgeTerminationPolicy: "Redirect"}, WildcardPolicy: "None",
		},
	}
}
