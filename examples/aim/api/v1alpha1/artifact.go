package v1alpha1

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// AIMArtifactSpec describes one download.
type AIMArtifactSpec struct {
	// SourceURI is the location to download from: hf:// or s3://.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:Pattern=`^(hf|s3)://[^ \t\r\n]+$`
	// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="sourceUri is immutable"
	SourceURI string `json:"sourceUri"`
	// ModelID is the model as {organisation}/{name}.
	// +kubebuilder:validation:Pattern=`^[a-zA-Z0-9_-]+/[a-zA-Z0-9._-]+$`
	// +optional
	ModelID string `json:"modelId,omitempty"`
	// StorageClassName of the volume.
	// +optional
	StorageClassName string `json:"storageClassName,omitempty"`
	// Size of the weights; found out when unset.
	// +optional
	Size *resource.Quantity `json:"size,omitempty"`
	// Env of the download.
	// +optional
	// +listType=map
	// +listMapKey=name
	Env []corev1.EnvVar `json:"env,omitempty"`
	// ModelDownloadImage is the image of the download.
	// +kubebuilder:default="ghcr.io/silogen/aim-artifact-downloader:0.2.0"
	// +optional
	ModelDownloadImage string `json:"modelDownloadImage,omitempty"`
	// ImagePullSecrets of the download.
	// +optional
	ImagePullSecrets []corev1.LocalObjectReference `json:"imagePullSecrets,omitempty"`
	// RuntimeConfigName is the runtime config; `default` when empty.
	// +optional
	RuntimeConfigName string `json:"runtimeConfigName,omitempty"`
}

// AIMArtifactProgress is the progress of a download.
type AIMArtifactProgress struct {
	// TotalBytes to download.
	// +optional
	TotalBytes int64 `json:"totalBytes,omitempty"`
	// DownloadedBytes so far.
	// +optional
	DownloadedBytes int64 `json:"downloadedBytes,omitempty"`
	// Percentage so far.
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=100
	// +optional
	Percentage int32 `json:"percentage,omitempty"`
	// DisplayPercentage for people.
	// +optional
	DisplayPercentage string `json:"displayPercentage,omitempty"`
}

// AIMArtifactDownload is the attempt in progress.
type AIMArtifactDownload struct {
	// Protocol in use.
	// +optional
	Protocol string `json:"protocol,omitempty"`
	// Attempt with this protocol.
	// +optional
	Attempt int32 `json:"attempt,omitempty"`
	// TotalAttempts with all protocols.
	// +optional
	TotalAttempts int32 `json:"totalAttempts,omitempty"`
	// ProtocolSequence that is tried.
	// +optional
	ProtocolSequence string `json:"protocolSequence,omitempty"`
	// Message for people.
	// +optional
	Message string `json:"message,omitempty"`
}

// AIMArtifactStatus is the state of a download.
type AIMArtifactStatus struct {
	// ObservedGeneration is the generation that was last seen.
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`
	// Conditions of the artifact.
	// +optional
	// +listType=map
	// +listMapKey=type
	Conditions []metav1.Condition `json:"conditions,omitempty"`
	// Status is the state as a single word.
	// +kubebuilder:default=Pending
	// +kubebuilder:validation:Enum=Pending;Progressing;Ready;Degraded;Failed;NotAvailable
	// +optional
	Status AIMStatus `json:"status,omitempty"`
	// Mode controls whether several caches may use the artifact.
	// +optional
	Mode AIMTemplateCacheMode `json:"mode,omitempty"`
	// DiscoveredSizeBytes of the weights.
	// +optional
	DiscoveredSizeBytes *int64 `json:"discoveredSizeBytes,omitempty"`
	// AllocatedSize of the volume.
	// +optional
	AllocatedSize *resource.Quantity `json:"allocatedSize,omitempty"`
	// HeadroomPercent in the volume.
	// +optional
	HeadroomPercent *int32 `json:"headroomPercent,omitempty"`
	// DisplaySize for people.
	// +optional
	DisplaySize string `json:"displaySize,omitempty"`
	// LastUsed is when the artifact was last used.
	// +optional
	LastUsed *metav1.Time `json:"lastUsed,omitempty"`
	// PersistentVolumeClaim that holds the weights.
	// +optional
	PersistentVolumeClaim string `json:"persistentVolumeClaim,omitempty"`
	// Progress of the download.
	// +optional
	Progress *AIMArtifactProgress `json:"progress,omitempty"`
	// Download in progress.
	// +optional
	Download *AIMArtifactDownload `json:"download,omitempty"`
}

// AIMArtifact is one download of weights to a volume.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:scope=Namespaced,shortName=aimart,categories=aim;all
// +kubebuilder:printcolumn:name="Status",type=string,JSONPath=`.status.status`
// +kubebuilder:printcolumn:name="Mode",type=string,JSONPath=`.status.mode`
// +kubebuilder:printcolumn:name="Model Size",type=string,JSONPath=`.status.displaySize`
// +kubebuilder:printcolumn:name="Progress",type=string,JSONPath=`.status.progress.displayPercentage`
// +kubebuilder:printcolumn:name="Protocol",type=string,JSONPath=`.status.download.protocol`,priority=1
// +kubebuilder:printcolumn:name="Attempt",type=string,JSONPath=`.status.download.attempt`,priority=1
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
type AIMArtifact struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// Spec of the artifact.
	Spec AIMArtifactSpec `json:"spec,omitempty"`
	// Status of the artifact.
	Status AIMArtifactStatus `json:"status,omitempty"`
}

// AIMArtifactList is a list of AIMArtifact.
//
// +kubebuilder:object:root=true
type AIMArtifactList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	// Items of the list.
	Items []AIMArtifact `json:"items"`
}
