package v1alpha1

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// ServingRuntime is a runtime that serves models of some formats in one namespace.
//
// +kubebuilder:object:root=true
type ServingRuntime struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitzero"`

	Spec   ServingRuntimeSpec   `json:"spec,omitzero"`
	Status ServingRuntimeStatus `json:"status,omitzero"`
}

// ServingRuntimeList is a list of ServingRuntimes.
//
// +kubebuilder:object:root=true
type ServingRuntimeList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitzero"`

	Items []ServingRuntime `json:"items"`
}

// ClusterServingRuntime is a runtime for all namespaces. A ServingRuntime of its name hides it in a namespace.
//
// +kubebuilder:object:root=true
// +kubebuilder:resource:scope=Cluster
type ClusterServingRuntime struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitzero"`

	Spec   ServingRuntimeSpec   `json:"spec,omitzero"`
	Status ServingRuntimeStatus `json:"status,omitzero"`
}

// ClusterServingRuntimeList is a list of ClusterServingRuntimes.
//
// +kubebuilder:object:root=true
type ClusterServingRuntimeList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitzero"`

	Items []ClusterServingRuntime `json:"items"`
}

// ServingRuntimeStatus is the status of a runtime. It is always empty.
type ServingRuntimeStatus struct{}

// ServingRuntimeSpec describes a runtime.
type ServingRuntimeSpec struct {
	// SupportedModelFormats are the formats that the runtime can load.
	SupportedModelFormats []SupportedModelFormat `json:"supportedModelFormats,omitempty"`
	// MultiModel reports whether one pod serves many models: only such a runtime is ModelMesh's.
	MultiModel *bool `json:"multiModel,omitempty"`
	// Disabled disables the runtime.
	Disabled *bool `json:"disabled,omitempty"`
	// ProtocolVersions are the protocols of inference, such as grpc-v2.
	ProtocolVersions []string `json:"protocolVersions,omitempty"`
	// Replicas overrides the number of pods of a runtime.
	Replicas *uint16 `json:"replicas,omitempty"`
	// GRPCEndpoint is the endpoint that manages models: port:<n> or unix:<path>.
	GRPCEndpoint *string `json:"grpcEndpoint,omitempty"`
	// GRPCDataEndpoint is the endpoint of inference requests. The default is GRPCEndpoint.
	GRPCDataEndpoint *string `json:"grpcDataEndpoint,omitempty"`
	// HTTPDataEndpoint has no effect on ModelMesh.
	HTTPDataEndpoint *string `json:"httpDataEndpoint,omitempty"`
	// StorageHelper configures the container that loads models from storage.
	StorageHelper *StorageHelper `json:"storageHelper,omitempty"`
	// BuiltInAdapter adapts a known server to the management interface.
	BuiltInAdapter *BuiltInAdapter `json:"builtInAdapter,omitempty"`

	ServingRuntimePodSpec `json:",inline"`
}

// ServingRuntimePodSpec configures the pods of a runtime.
type ServingRuntimePodSpec struct {
	// Containers are the containers of the runtime.
	Containers []corev1.Container `json:"containers"`
	// Volumes are the volumes that the containers mount.
	Volumes []corev1.Volume `json:"volumes,omitempty"`
	// NodeSelector, Affinity and Tolerations select the nodes of the pods.
	NodeSelector map[string]string   `json:"nodeSelector,omitempty"`
	Affinity     *corev1.Affinity    `json:"affinity,omitempty"`
	Tolerations  []corev1.Toleration `json:"tolerations,omitempty"`
	// Labels and Annotations are set on the pods.
	Labels      map[string]string `json:"labels,omitempty"`
	Annotations map[string]string `json:"annotations,omitempty"`
	// ImagePullSecrets are for the images of the containers.
	ImagePullSecrets []corev1.LocalObjectReference `json:"imagePullSecrets,omitempty"`
}

// SupportedModelFormat is a model format that a runtime can load.
type SupportedModelFormat struct {
	// Name is the name of the format.
	Name string `json:"name"`
	// Version is the version of the format. By default, all versions match.
	Version *string `json:"version,omitempty"`
	// AutoSelect lets models of the format choose the runtime without naming it.
	AutoSelect *bool `json:"autoSelect,omitempty"`
	// Priority has no effect on ModelMesh.
	// +kubebuilder:validation:Minimum=1
	Priority *int32 `json:"priority,omitempty"`
}

// StorageHelper configures the container that loads models from storage.
type StorageHelper struct {
	// Disabled disables the container.
	Disabled bool `json:"disabled,omitempty"`
}

// BuiltInAdapter adapts a known server to the management interface.
type BuiltInAdapter struct {
	// ServerType is the server, and the name of its container.
	ServerType string `json:"serverType,omitempty"`
	// RuntimeManagementPort is the management port of the server.
	RuntimeManagementPort int `json:"runtimeManagementPort,omitempty"`
	// MemBufferBytes is the memory of the server that models cannot use.
	MemBufferBytes int `json:"memBufferBytes,omitempty"`
	// ModelLoadingTimeoutMillis limits the time to load a model.
	ModelLoadingTimeoutMillis int `json:"modelLoadingTimeoutMillis,omitempty"`
	// Env contains environment variables of the adapter. They take precedence over those of the operator.
	Env []corev1.EnvVar `json:"env,omitempty"`
}
