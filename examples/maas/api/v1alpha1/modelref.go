package v1alpha1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// The kinds of backends of a model.
const (
	BackendLLMInferenceService = "LLMInferenceService"
	BackendExternalModel       = "ExternalModel"
)

// MaaSModelRefSpec is the desired state of a MaaSModelRef.
type MaaSModelRefSpec struct {
	// ModelRef refers to the backend of the model.
	ModelRef ModelReference `json:"modelRef"`
	// EndpointOverride replaces the endpoint that would be found.
	// +optional
	EndpointOverride string `json:"endpointOverride,omitempty"`
}

// ModelReference refers to a backend in the same namespace.
type ModelReference struct {
	// Kind is the kind of the backend.
	// +kubebuilder:validation:Enum=LLMInferenceService;ExternalModel
	Kind string `json:"kind"`
	// Name is the name of the backend.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	Name string `json:"name"`
}

// ModelPhase is the state of a model as a single word.
type ModelPhase string

// The phases of a model.
const (
	ModelPending ModelPhase = "Pending"
	ModelReady   ModelPhase = "Ready"
	ModelFailed  ModelPhase = "Failed"
)

// MaaSModelRefStatus is the observed state of a MaaSModelRef.
type MaaSModelRefStatus struct {
	// Phase summarizes the conditions in one word.
	// +kubebuilder:validation:Enum=Pending;Ready;Unhealthy;Failed
	// +optional
	Phase ModelPhase `json:"phase,omitempty"`
	// Endpoint is the URL of the model.
	// +optional
	Endpoint string `json:"endpoint,omitempty"`
	// HTTPRouteName is the name of the HTTPRoute to the model.
	// +optional
	HTTPRouteName string `json:"httpRouteName,omitempty"`
	// HTTPRouteNamespace is the namespace of the HTTPRoute.
	// +optional
	HTTPRouteNamespace string `json:"httpRouteNamespace,omitempty"`
	// HTTPRouteGatewayName is the name of the Gateway of the HTTPRoute.
	// +optional
	HTTPRouteGatewayName string `json:"httpRouteGatewayName,omitempty"`
	// HTTPRouteGatewayNamespace is the namespace of that Gateway.
	// +optional
	HTTPRouteGatewayNamespace string `json:"httpRouteGatewayNamespace,omitempty"`
	// HTTPRouteHostnames are the hostnames of the route.
	// +optional
	HTTPRouteHostnames []string `json:"httpRouteHostnames,omitempty"`
	// Conditions are the latest observations of the state of the object.
	// +optional
	Conditions []metav1.Condition `json:"conditions,omitempty"`
}

// MaaSModelRef makes a model available to subscriptions and auth policies.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:printcolumn:name="Phase",type=string,JSONPath=`.status.phase`
// +kubebuilder:printcolumn:name="Endpoint",type=string,JSONPath=`.status.endpoint`
// +kubebuilder:printcolumn:name="HTTPRoute",type=string,JSONPath=`.status.httpRouteName`
// +kubebuilder:printcolumn:name="Gateway",type=string,JSONPath=`.status.httpRouteGatewayName`
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
type MaaSModelRef struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// Spec is the desired state.
	// +optional
	Spec *MaaSModelRefSpec `json:"spec,omitempty"`
	// Status is the observed state.
	// +optional
	Status MaaSModelRefStatus `json:"status,omitempty"`
}

// MaaSModelRefList is a list of MaaSModelRef.
//
// +kubebuilder:object:root=true
type MaaSModelRefList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	// Items are the objects of the list.
	Items []MaaSModelRef `json:"items"`
}
