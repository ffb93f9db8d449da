package v1alpha1

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// NemoConfig is a configuration of guardrails.
type NemoConfig struct {
	// Name of the configuration.
	// +kubebuilder:validation:Pattern=`^[a-zA-Z0-9_-]+$`
	Name string `json:"name,omitempty"`
	// ConfigMaps with its files.
	ConfigMaps []string `json:"configMaps,omitempty"`
	// Default marks the configuration for requests that name none. The default is the first one.
	Default bool `json:"default,omitempty"`
}

// CABundleConfig names certificates of authorities.
type CABundleConfig struct {
	// ConfigMapName of the certificates.
	ConfigMapName string `json:"configMapName"`
	// ConfigMapNamespace has no effect but that of the owner, as volumes are of one namespace.
	ConfigMapNamespace string `json:"configMapNamespace,omitempty"`
	// ConfigMapKeys to use. Default ca-bundle.crt.
	// +kubebuilder:validation:MaxItems=50
	ConfigMapKeys []string `json:"configMapKeys,omitempty"`
}

// MCPGateway names a gateway.
type MCPGateway struct {
	// Name of the gateway; empty is the first one.
	// +kubebuilder:validation:Pattern=`^([a-z0-9]([-a-z0-9.]*[a-z0-9])?)?$`
	Name string `json:"name,omitempty"`
	// Namespace of the gateway.
	// +kubebuilder:validation:Pattern=`^([a-z0-9]([-a-z0-9.]*[a-z0-9])?)?$`
	Namespace string `json:"namespace,omitempty"`
}

// NemoPod contains additions to the pods.
type NemoPod struct {
	Affinity     *corev1.Affinity    `json:"affinity,omitempty"`
	Tolerations  []corev1.Toleration `json:"tolerations,omitempty"`
	NodeSelector map[string]string   `json:"nodeSelector,omitempty"`
	// MCPGateway is the gateway whose answers are converted for the guardrails.
	MCPGateway *MCPGateway `json:"mcpGateway,omitempty"`
}

// NemoTemplate contains additions of a user.
type NemoTemplate struct {
	Pod *NemoPod `json:"pod,omitempty"`
}

// NemoGuardrailsSpec is the desired state of a server.
type NemoGuardrailsSpec struct {
	// NemoConfigs are the configurations.
	NemoConfigs []NemoConfig `json:"nemoConfigs"`
	// CABundleConfig names certificates of authorities.
	CABundleConfig *CABundleConfig `json:"caBundleConfig,omitempty"`
	// Replicas of the server.
	// +kubebuilder:default=1
	// +kubebuilder:validation:Minimum=1
	Replicas int `json:"replicas,omitempty"`
	// Env of the server.
	Env []corev1.EnvVar `json:"env,omitempty"`
	// Template contains additions of a user.
	Template *NemoTemplate `json:"template,omitempty"`
}

// CAStatus is which certificates of authorities were found.
type CAStatus struct {
	ODHTrustedCAFound       bool   `json:"odhTrustedCAFound"`
	ODHTrustedCAError       string `json:"odhTrustedCAError,omitempty"`
	OpenShiftServingCAFound bool   `json:"openshiftServingCAFound"`
	OpenShiftServingCAError string `json:"openshiftServingCAError,omitempty"`
	UserCAFound             *bool  `json:"userCAFound,omitempty"`
	UserCAError             string `json:"userCAError,omitempty"`
}

// MCPGatewayStatus is whether the gateway was found.
type MCPGatewayStatus struct {
	MCPGatewayFound bool   `json:"mcpGatewayFound"`
	MCPGatewayError string `json:"mcpGatewayError,omitempty"`
}

// BBRPluginStatus is whether the plug-in of the gateway was found.
type BBRPluginStatus struct {
	BBRPluginFound bool   `json:"bbrPluginFound"`
	BBRPluginError string `json:"bbrPluginError,omitempty"`
}

// NemoGuardrailsStatus is the observed state of a server.
type NemoGuardrailsStatus struct {
	GuardrailsStatus `json:",inline"`
	// CA is which certificates of authorities were found.
	CA *CAStatus `json:"ca,omitempty"`
	// MCPGateway is whether the gateway was found.
	MCPGateway *MCPGatewayStatus `json:"mcpGateway,omitempty"`
	// BBRPlugin is whether the plug-in of the gateway was found.
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
