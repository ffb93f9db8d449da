package v1alpha1

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// NemoConfig is a guardrails configuration.
type NemoConfig struct {
	// Name is the name of the configuration.
	// +kubebuilder:validation:Pattern=`^[a-zA-Z0-9_-]+$`
	Name string `json:"name,omitempty"`
	// ConfigMaps are the names of the ConfigMaps with the files of the configuration.
	ConfigMaps []string `json:"configMaps,omitempty"`
	// Default marks the configuration for requests without one. Without a mark, the first one is used.
	Default bool `json:"default,omitempty"`
}

// CABundleConfig refers to certificates of authorities.
type CABundleConfig struct {
	// ConfigMapName is the name of the ConfigMap with the certificates.
	ConfigMapName string `json:"configMapName"`
	// ConfigMapNamespace must be the namespace of the owner, because a pod cannot mount ConfigMaps of another namespace.
	ConfigMapNamespace string `json:"configMapNamespace,omitempty"`
	// ConfigMapKeys are the keys of the certificates. The default is ca-bundle.crt.
	// +kubebuilder:validation:MaxItems=50
	ConfigMapKeys []string `json:"configMapKeys,omitempty"`
}

// MCPGateway refers to a gateway.
type MCPGateway struct {
	// Name is the name of the gateway. The default is the first gateway.
	// +kubebuilder:validation:Pattern=`^([a-z0-9]([-a-z0-9.]*[a-z0-9])?)?$`
	Name string `json:"name,omitempty"`
	// Namespace is the namespace of the gateway.
	// +kubebuilder:validation:Pattern=`^([a-z0-9]([-a-z0-9.]*[a-z0-9])?)?$`
	Namespace string `json:"namespace,omitempty"`
}

// NemoPod contains additional settings of the pods.
type NemoPod struct {
	Affinity     *corev1.Affinity    `json:"affinity,omitempty"`
	Tolerations  []corev1.Toleration `json:"tolerations,omitempty"`
	NodeSelector map[string]string   `json:"nodeSelector,omitempty"`
	// MCPGateway refers to the gateway whose responses are converted for the guardrails server.
	MCPGateway *MCPGateway `json:"mcpGateway,omitempty"`
}

// NemoTemplate contains additional settings of the user for the pods.
type NemoTemplate struct {
	Pod *NemoPod `json:"pod,omitempty"`
}

// NemoGuardrailsSpec is the desired state of a server.
type NemoGuardrailsSpec struct {
	// NemoConfigs are the guardrails configurations of the server.
	NemoConfigs []NemoConfig `json:"nemoConfigs"`
	// CABundleConfig refers to certificates of authorities.
	CABundleConfig *CABundleConfig `json:"caBundleConfig,omitempty"`
	// Replicas is the number of replicas of the server.
	// +kubebuilder:default=1
	// +kubebuilder:validation:Minimum=1
	Replicas int `json:"replicas,omitempty"`
	// Env contains environment variables of the server.
	Env []corev1.EnvVar `json:"env,omitempty"`
	// Template contains additional settings of the user for the pods.
	Template *NemoTemplate `json:"template,omitempty"`
}

// CAStatus reports which certificates of authorities were found.
type CAStatus struct {
	ODHTrustedCAFound       bool   `json:"odhTrustedCAFound"`
	ODHTrustedCAError       string `json:"odhTrustedCAError,omitempty"`
	OpenShiftServingCAFound bool   `json:"openshiftServingCAFound"`
	OpenShiftServingCAError string `json:"openshiftServingCAError,omitempty"`
	UserCAFound             *bool  `json:"userCAFound,omitempty"`
	UserCAError             string `json:"userCAError,omitempty"`
}

// MCPGatewayStatus reports whether the gateway was found.
type MCPGatewayStatus struct {
	MCPGatewayFound bool   `json:"mcpGatewayFound"`
	MCPGatewayError string `json:"mcpGatewayError,omitempty"`
}

// BBRPluginStatus reports whether the plug-in of the gateway was found.
type BBRPluginStatus struct {
	BBRPluginFound bool   `json:"bbrPluginFound"`
	BBRPluginError string `json:"bbrPluginError,omitempty"`
}

// NemoGuardrailsStatus is the observed state of a server.
type NemoGuardrailsStatus struct {
	GuardrailsStatus `json:",inline"`
	// CA reports which certificates of authorities were found.
	CA *CAStatus `json:"ca,omitempty"`
	// MCPGateway reports whether the gateway was found.
	MCPGateway *MCPGatewayStatus `json:"mcpGateway,omitempty"`
	// BBRPlugin reports whether the plug-in of the gateway was found.
	BBRPlugin *BBRPluginStatus `json:"bbrPlugin,omitempty"`
}

// NemoGuardrails runs a guardrails server.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:path=nemoguardrails
type NemoGuardrails struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec   NemoGuardrailsSpec   `json:"spec,omitempty"`
	Status NemoGuardrailsStatus `json:"status,omitempty"`
}

// NemoGuardrailsList is a list of guardrails.
//
// +kubebuilder:object:root=true
type NemoGuardrailsList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`

	Items []NemoGuardrails `json:"items"`
}
