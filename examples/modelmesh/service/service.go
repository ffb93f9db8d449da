package service

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/reconcilekit/reconcilekit/examples/modelmesh/settings"
)

// label has the name of the Service as its value. The pods of ModelMesh have it, too.
const label = "modelmesh-service"

func labels(c settings.Config) map[string]string {
	labels := settings.Labels()
	labels[label] = c.InferenceServiceName
	return labels
}

// serviceOf returns the Service of a namespace.
func serviceOf(c settings.Config, namespace string, owner *metav1.OwnerReference) *corev1.Service {
	s := &corev1.Service{ObjectMeta: metav1.ObjectMeta{
		Namespace: namespace, Name: c.InferenceServiceName, Labels: labels(c), OwnerReferences: []metav1.OwnerReference{*owner},
	}}
	s.Spec.Selector = map[string]string{label: c.InferenceServiceName}
	port := func(name string, number uint16) {
		s.Spec.Ports = append(s.Spec.Ports, corev1.ServicePort{
			Name: name, Port: int32(number), TargetPort: intstr.FromString(name), Protocol: corev1.ProtocolTCP,
		})
	}
	port("grpc", c.InferenceServicePort)
	if c.RESTProxy.Enabled {
		port("http", c.RESTProxy.Port)
	}
	if c.Metrics.Enabled {
		port("prometheus", c.Metrics.Port)
	}
	if c.HeadlessService {
		s.Spec.ClusterIP = corev1.ClusterIPNone
	}
	return s
}

// monitorName is the name of the ServiceMonitor.
const monitorName = "modelmesh-metrics-monitor"

// monitor returns an empty ServiceMonitor, a kind of the Prometheus operator.
func monitor(namespace string) *unstructured.Unstructured {
	m := &unstructured.Unstructured{}
	m.SetGroupVersionKind(schema.GroupVersionKind{Group: "monitoring.coreos.com", Version: "v1", Kind: "ServiceMonitor"})
	m.SetNamespace(namespace)
	m.SetName(monitorName)
	return m
}

// monitorOf returns the ServiceMonitor of the Service.
func monitorOf(c settings.Config, service *corev1.Service) *unstructured.Unstructured {
	m := monitor(service.Namespace)
	m.SetLabels(labels(c))
	m.SetOwnerReferences([]metav1.OwnerReference{*metav1.NewControllerRef(service, corev1.SchemeGroupVersion.WithKind("Service"))})
	m.Object["spec"] = map[string]any{
		"selector":          map[string]any{"matchLabels": map[string]any{label: c.InferenceServiceName}},
		"namespaceSelector": map[string]any{"matchNames": []any{service.Namespace}},
		"endpoints": []any{map[string]any{
			"interval": "30s", "port": "prometheus", "scheme": c.Metrics.Scheme, "tlsConfig": map[string]any{"insecureSkipVerify": true},
		}},
	}
	return m
}
