package v1alpha1

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"
)

// AIMRuntimeRoutingConfig configures how a Gateway publishes a service. The service has the same fields, which override those of the
// runtime config.
type AIMRuntimeRoutingConfig struct {
	// Enabled publishes the service. The default is false.
	// +optional
	Enabled *bool `json:"enabled,omitempty"`
	// GatewayRef refers to the Gateway of the route. The most specific config that sets it is used. Its fields are not merged.
	// +optional
	GatewayRef *gatewayv1.ParentReference `json:"gatewayRef,omitempty"`
	// PathTemplate is the path prefix with JSONPath expressions in braces, for
	// example /{.metadata.namespace}/{.metadata.name}. The default path is
	// /{namespace}/{uid}.
	// +optional
	PathTemplate *string `json:"pathTemplate,omitempty"`
	// RequestTimeout is the timeout of the route. The default is that of the Gateway.
	// +optional
	RequestTimeout *metav1.Duration `json:"requestTimeout,omitempty"`
	// Annotations are the annotations of the route.
	// +optional
	Annotations map[string]string `json:"annotations,omitempty"`
}

// AIMModelConfig is the part of a runtime config about models.
type AIMModelConfig struct {
	// AutoDiscovery enables the discovery of metadata in images.
	// +optional
	AutoDiscovery *bool `json:"autoDiscovery,omitempty"`
}

// AIMRuntimeConfigLabelPropagationSpec selects the labels that children inherit from their owner.
type AIMRuntimeConfigLabelPropagationSpec struct {
	// Enabled switches propagation of labels outside the product's own domain.
	// +kubebuilder:default=false
	// +optional
	Enabled *bool `json:"enabled,omitempty"`
	// Match lists patterns of label keys. The wildcards * and ? do not match a slash.
	// +optional
	Match []string `json:"match,omitempty"`
}

// AIMRuntimeConfigCommon contains the settings that namespaced configs and
// cluster configs share.
type AIMRuntimeConfigCommon struct {
	// Storage configures new volumes.
	// +optional
	Storage *AIMStorageConfig `json:"storage,omitempty"`
	// Routing configures how services are published.
	// +optional
	Routing *AIMRuntimeRoutingConfig `json:"routing,omitempty"`
	// Model configures the discovery of models.
	// +optional
	Model *AIMModelConfig `json:"model,omitempty"`
	// LabelPropagation selects the labels that children inherit from their owner.
	// +optional
	LabelPropagation *AIMRuntimeConfigLabelPropagationSpec `json:"labelPropagation,omitempty"`
	// Env contains environment variables of the inference containers.
	// +optional
	// +listType=map
	// +listMapKey=name
	Env []corev1.EnvVar `json:"env,omitempty"`
	// DefaultStorageClassName is deprecated: use storage.
	// +optional
	DefaultStorageClassName *string `json:"defaultStorageClassName,omitempty"`
	// PVCHeadroomPercent is deprecated: use storage.
	// +optional
	PVCHeadroomPercent *int32 `json:"pvcHeadroomPercent,omitempty"`
}

// AIMRuntimeConfigStatus is the observed state of a runtime config.
type AIMRuntimeConfigStatus struct {
	// ObservedGeneration is the metadata.generation that the controller last observed.
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`
	// Conditions are the latest observations of the state of the config.
	// +optional
	// +listType=map
	// +listMapKey=type
	Conditions []metav1.Condition `json:"conditions,omitempty"`
}

// AIMRuntimeConfig contains settings for the services of a namespace.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:scope=Namespaced,shortName=aimrc,categories=aim;all
type AIMRuntimeConfig struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// Spec contains the settings.
	Spec AIMRuntimeConfigCommon `json:"spec,omitempty"`
	// Status is the observed state of the config.
	Status AIMRuntimeConfigStatus `json:"status,omitempty"`
}

// AIMRuntimeConfigList is a list of AIMRuntimeConfig.
//
// +kubebuilder:object:root=true
type AIMRuntimeConfigList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	// Items are the objects of the list.
	Items []AIMRuntimeConfig `json:"items"`
}

// AIMClusterRuntimeConfig contains settings for the services of all namespaces. Those of a namespace take precedence.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:scope=Cluster,shortName=aimclrc,categories=aim;all
type AIMClusterRuntimeConfig struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// Spec contains the settings.
	Spec AIMRuntimeConfigCommon `json:"spec,omitempty"`
	// Status is the observed state of the config.
	Status AIMRuntimeConfigStatus `json:"status,omitempty"`
}

// AIMClusterRuntimeConfigList is a list of AIMClusterRuntimeConfig.
//
// +kubebuilder:object:root=true
type AIMClusterRuntimeConfigList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	// Items are the objects of the list.
	Items []AIMClusterRuntimeConfig `json:"items"`
}
