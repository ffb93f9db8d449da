package foreign

import (
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Route publishes a Service under a host name.
//
// +kubebuilder:object:root=true
type Route struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec   RouteSpec   `json:"spec,omitempty"`
	Status RouteStatus `json:"status,omitzero"`
}

// RouteList is a list of Route objects.
//
// +kubebuilder:object:root=true
type RouteList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`

	Items []Route `json:"items"`
}

// InferenceService is a served model.
//
// +kubebuilder:object:root=true
type InferenceService struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec   InferenceServiceSpec   `json:"spec,omitempty"`
	Status InferenceServiceStatus `json:"status,omitzero"`
}

// InferenceServiceList is a list of InferenceService objects.
//
// +kubebuilder:object:root=true
type InferenceServiceList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`

	Items []InferenceService `json:"items"`
}

// ServingRuntime runs models.
//
// +kubebuilder:object:root=true
type ServingRuntime struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec ServingRuntimeSpec `json:"spec,omitempty"`
}

// ServingRuntimeList is a list of ServingRuntime objects.
//
// +kubebuilder:object:root=true
type ServingRuntimeList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`

	Items []ServingRuntime `json:"items"`
}

// ServiceMonitor configures which endpoints Prometheus scrapes.
//
// +kubebuilder:object:root=true
type ServiceMonitor struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec apiextensionsv1.JSON `json:"spec,omitempty"`
}

// ServiceMonitorList is a list of ServiceMonitor objects.
//
// +kubebuilder:object:root=true
type ServiceMonitorList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`

	Items []ServiceMonitor `json:"items"`
}

// DestinationRule configures the access to a host in the mesh.
//
// +kubebuilder:object:root=true
type DestinationRule struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec apiextensionsv1.JSON `json:"spec,omitempty"`
}

// DestinationRuleList is a list of DestinationRule objects.
//
// +kubebuilder:object:root=true
type DestinationRuleList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`

	Items []DestinationRule `json:"items"`
}

// VirtualService routes requests to a host in the mesh.
//
// +kubebuilder:object:root=true
type VirtualService struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec apiextensionsv1.JSON `json:"spec,omitempty"`
}

// VirtualServiceList is a list of VirtualService objects.
//
// +kubebuilder:object:root=true
type VirtualServiceList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`

	Items []VirtualService `json:"items"`
}

// EnvoyFilter changes the configuration of proxies.
//
// +kubebuilder:object:root=true
type EnvoyFilter struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec apiextensionsv1.JSON `json:"spec,omitempty"`
}

// EnvoyFilterList is a list of EnvoyFilter objects.
//
// +kubebuilder:object:root=true
type EnvoyFilterList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`

	Items []EnvoyFilter `json:"items"`
}

// MCPGatewayExtension extends a Gateway with the Model Context Protocol.
//
// +kubebuilder:object:root=true
type MCPGatewayExtension struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec MCPGatewayExtensionSpec `json:"spec,omitempty"`
}

// MCPGatewayExtensionList is a list of MCPGatewayExtension objects.
//
// +kubebuilder:object:root=true
type MCPGatewayExtensionList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`

	Items []MCPGatewayExtension `json:"items"`
}

// Workload waits in a queue until there is quota for the Job that owns it.
//
// +kubebuilder:object:root=true
type Workload struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Status WorkloadStatus `json:"status,omitzero"`
}

// WorkloadList is a list of Workload objects.
//
// +kubebuilder:object:root=true
type WorkloadList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`

	Items []Workload `json:"items"`
}
