package v1alpha1

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// ModelSourceFilter selects images of a registry.
type ModelSourceFilter struct {
	// Image is a repository pattern.
	// +kubebuilder:validation:MaxLength=512
	Image string `json:"image"`
	// Exclude lists repositories to ignore.
	// +optional
	Exclude []string `json:"exclude,omitempty"`
	// Versions lists constraints on the tag. The default is the versions of the source.
	// +optional
	Versions []string `json:"versions,omitempty"`
}

// AIMClusterModelSourceSpec describes a registry that is searched for models.
type AIMClusterModelSourceSpec struct {
	// Registry is the registry to search.
	// +kubebuilder:default=docker.io
	// +optional
	Registry string `json:"registry,omitempty"`
	// ImagePullSecrets name the Secrets with credentials for the registry.
	// +optional
	ImagePullSecrets []corev1.LocalObjectReference `json:"imagePullSecrets,omitempty"`
	// Filters select the images.
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=100
	Filters []ModelSourceFilter `json:"filters"`
	// SyncInterval is the interval between two searches.
	// +kubebuilder:default="1h"
	// +optional
	SyncInterval metav1.Duration `json:"syncInterval,omitempty"`
	// Versions lists constraints on the tags.
	// +optional
	Versions []string `json:"versions,omitempty"`
	// MaxModels is the maximum number of created models.
	// +kubebuilder:default=100
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=10000
	// +optional
	MaxModels *int `json:"maxModels,omitempty"`
}

// AIMClusterModelSourceStatus is the observed state of a model source.
type AIMClusterModelSourceStatus struct {
	// Status summarizes the conditions in one word.
	// +kubebuilder:validation:Enum=Pending;Starting;Progressing;Ready;Running;Degraded;NotAvailable;Failed
	// +optional
	Status AIMStatus `json:"status,omitempty"`
	// LastSyncTime is the end time of the last search.
	// +optional
	LastSyncTime *metav1.Time `json:"lastSyncTime,omitempty"`
	// DiscoveredModels is the number of created models.
	// +optional
	DiscoveredModels int `json:"discoveredModels,omitempty"`
	// AvailableModels is the number of matching models.
	// +optional
	AvailableModels int `json:"availableModels,omitempty"`
	// ModelsLimitReached reports whether models were ignored because of maxModels.
	// +optional
	ModelsLimitReached bool `json:"modelsLimitReached,omitempty"`
	// Conditions are the latest observations of the state of the source.
	// +optional
	// +listType=map
	// +listMapKey=type
	Conditions []metav1.Condition `json:"conditions,omitempty"`
	// ObservedGeneration is the metadata.generation that the controller last observed.
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`
}

// AIMClusterModelSource creates cluster models from a registry.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:scope=Cluster,shortName=aimclsrc,categories=aim;all
// +kubebuilder:printcolumn:name="Status",type=string,JSONPath=`.status.status`
// +kubebuilder:printcolumn:name="Models",type=integer,JSONPath=`.status.discoveredModels`
// +kubebuilder:printcolumn:name="LastSync",type=date,JSONPath=`.status.lastSyncTime`
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
type AIMClusterModelSource struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// Spec is the desired state of the source.
	Spec AIMClusterModelSourceSpec `json:"spec,omitempty"`
	// Status is the observed state of the source.
	Status AIMClusterModelSourceStatus `json:"status,omitempty"`
}

// AIMClusterModelSourceList is a list of AIMClusterModelSource.
//
// +kubebuilder:object:root=true
type AIMClusterModelSourceList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	// Items are the objects of the list.
	Items []AIMClusterModelSource `json:"items"`
}
