package foreign

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// RouteSpec describes a route.
type RouteSpec struct {
	To             RouteTarget `json:"to"`
	Port           RoutePort   `json:"port,omitzero"`
	TLS            RouteTLS    `json:"tls,omitzero"`
	WildcardPolicy string      `json:"wildcardPolicy,omitempty"`
}

// RouteTarget refers to a Service.
type RouteTarget struct {
	Kind   string `json:"kind"`
	Name   string `json:"name"`
	Weight int32  `json:"weight,omitempty"`
}

// RoutePort names a port of the Service.
type RoutePort struct {
	TargetPort string `json:"targetPort"`
}

// RouteTLS configures the TLS termination.
type RouteTLS struct {
	Termination                   string `json:"termination"`
	InsecureEdgeTerminationPolicy string `json:"insecureEdgeTerminationPolicy,omitempty"`
}

// RouteStatus has an entry for each router.
type RouteStatus struct {
	Ingress []RouteIngress `json:"ingress,omitempty"`
}

// RouteIngress is the status that a router reports.
type RouteIngress struct {
	Conditions []RouteCondition `json:"conditions,omitempty"`
}

// RouteCondition is a condition that a router reports.
type RouteCondition struct {
	Type   string                 `json:"type"`
	Status corev1.ConditionStatus `json:"status"`
}

// Admitted reports whether a router has admitted the route, which may be nil.
func (r *Route) Admitted() bool {
	if r == nil {
		return false
	}
	for _, ingress := range r.Status.Ingress {
		for _, c := range ingress.Conditions {
			if c.Type == "Admitted" && c.Status == corev1.ConditionTrue {
				return true
			}
		}
	}
	return false
}

// InferenceServiceSpec describes the served model.
type InferenceServiceSpec struct {
	Predictor Predictor `json:"predictor"`
}

// Predictor serves the model.
type Predictor struct {
	Logger *Logger `json:"logger,omitempty"`
	Model  *Model  `json:"model,omitempty"`
}

// Logger configures where requests and responses are sent.
type Logger struct {
	Mode string `json:"mode,omitempty"`
	URL  string `json:"url,omitempty"`
}

// Model describes the served model.
type Model struct {
	Runtime string `json:"runtime,omitempty"`
}

// InferenceServiceStatus is the observed state of an InferenceService.
type InferenceServiceStatus struct {
	URL string `json:"url,omitempty"`
}

// ServingRuntimeSpec describes a runtime.
type ServingRuntimeSpec struct {
	Containers []RuntimeContainer `json:"containers,omitempty"`
}

// RuntimeContainer is a container of a runtime.
type RuntimeContainer struct {
	Ports []corev1.ContainerPort `json:"ports,omitempty"`
}

// MCPGatewayExtensionSpec refers to the Gateway.
type MCPGatewayExtensionSpec struct {
	TargetRef TargetReference `json:"targetRef"`
}

// TargetReference refers to a Gateway.
type TargetReference struct {
	Name      string `json:"name,omitempty"`
	Namespace string `json:"namespace,omitempty"`
}

// WorkloadStatus is the observed state of a workload.
type WorkloadStatus struct {
	Conditions []metav1.Condition `json:"conditions,omitempty"`
}
