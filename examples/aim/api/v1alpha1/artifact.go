package v1alpha1

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// AIMArtifactSpec is the desired state of an artifact.
type AIMArtifactSpec struct {
	// SourceURI is the location of the weights: an hf:// or s3:// URI.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:Pattern=`^(hf|s3)://[^ \t\r\n]+$`
	// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="sourceUri is immutable"
	SourceURI string `json:"sourceUri"`
	// ModelID is the name of the model in the form {organisation}/{name}.
	// +kubebuilder:validation:Pattern=`^[a-zA-Z0-9_-]+/[a-zA-Z0-9._-]+$`
	// +optional
	ModelID string `json:"modelId,omitempty"`
	// StorageClassName is the storage class of the volume.
	// +optional
	StorageClassName string `json:"storageClassName,omitempty"`
	// Size is the size of the weights. By default, it is determined from the source.
	// +optional
	Size *resource.Quantity `json:"size,omitempty"`
	// Env contains environment variables of the download container.
	// +optional
	// +listType=map
	// +listMapKey=name
	Env []corev1.EnvVar `json:"env,omitempty"`
	// ModelDownloadImage is the image of the download.
	// +kubebuilder:default="ghcr.io/silogen/aim-artifact-downloader:0.2.0"
	// +optional
	ModelDownloadImage string `json:"modelDownloadImage,omitempty"`
	// ImagePullSecrets name the Secrets for pulling the download image.
	// +optional
	ImagePullSecrets []corev1.LocalObjectReference `json:"imagePullSecrets,omitempty"`
	// RuntimeConfigName is the name of the runtime config. The default is "default".
	// +optional
	RuntimeConfigName string `json:"runtimeConfigName,omitempty"`
}

// AIMArtifactProgress is the progress of a download.
type AIMArtifactProgress struct {
	// TotalBytes is the number of bytes to download.
	// +optional
	TotalBytes int64 `json:"totalBytes,omitempty"`
	// DownloadedBytes is the number of downloaded bytes.
	// +optional
	DownloadedBytes int64 `json:"downloadedBytes,omitempty"`
	// Percentage is the progress in percent.
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=100
	// +optional
	Percentage int32 `json:"percentage,omitempty"`
	// DisplayPercentage is the progress as human-readable text.
	// +optional
	DisplayPercentage string `json:"displayPercentage,omitempty"`
}

// AIMArtifactDownload describes the current download attempt.
type AIMArtifactDownload struct {
	// Protocol is the protocol in use.
	// +optional
	Protocol string `json:"protocol,omitempty"`
	// Attempt is the number of attempts with this protocol.
	// +optional
	Attempt int32 `json:"attempt,omitempty"`
	// TotalAttempts is the number of attempts with all protocols.
	// +optional
	TotalAttempts int32 `json:"totalAttempts,omitempty"`
	// ProtocolSequence lists the protocols in the order in which they are tried.
	// +optional
	ProtocolSequence string `json:"protocolSequence,omitempty"`
	// Message is a human-readable explanation.
	// +optional
	Message string `json:"message,omitempty"`
}

// AIMArtifactStatus is the observed state of an artifact.
type AIMArtifactStatus struct {
	// ObservedGeneration is the metadata.generation that the controller last observed.
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`
	// Conditions are the latest observations of the state of the artifact.
	// +optional
	// +listType=map
	// +listMapKey=type
	Conditions []metav1.Condition `json:"conditions,omitempty"`
	// Status summarizes the conditions in one word.
	// +kubebuilder:default=Pending
	// +kubebuilder:validation:Enum=Pending;Progressing;Ready;Degraded;Failed;NotAvailable
	// +optional
	Status AIMStatus `json:"status,omitempty"`
	// Mode states whether several caches can use the artifact.
	// +optional
	Mode AIMTemplateCacheMode `json:"mode,omitempty"`
	// DiscoveredSizeBytes is the discovered size of the weights in bytes.
	// +optional
	DiscoveredSizeBytes *int64 `json:"discoveredSizeBytes,omitempty"`
	// AllocatedSize is the size of the volume.
	// +optional
	AllocatedSize *resource.Quantity `json:"allocatedSize,omitempty"`
	// HeadroomPercent is the additional size of the volume in percent of the weights.
	// +optional
	HeadroomPercent *int32 `json:"headroomPercent,omitempty"`
	// DisplaySize is the size as human-readable text.
	// +optional
	DisplaySize string `json:"displaySize,omitempty"`
	// LastUsed is the time at which the artifact was last used.
	// +optional
	LastUsed *metav1.Time `json:"lastUsed,omitempty"`
	// PersistentVolumeClaim is the name of the claim that contains the weights.
	// +optional
	PersistentVolumeClaim string `json:"persistentVolumeClaim,omitempty"`
	// Progress is the progress of the download.
	// +optional
	Progress *AIMArtifactProgress `json:"progress,omitempty"`
	// Download describes the current download attempt.
	// +optional
	Download *AIMArtifactDownload `json:"download,omitempty"`
}

// AIMArtifact downloads weights to a volume.
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

	// Spec is the desired state of the artifact.
	Spec AIMArtifactSpec `json:"spec,omitempty"`
	// Status is the observed state of the artifact.
	Status AIMArtifactStatus `json:"status,omitempty"`
}

// AIMArtifactList is a list of AIMArtifact.
//
// +kubebuilder:object:root=true
type AIMArtifactList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	// Items are the objects of the list.
	Items []AIMArtifact `json:"items"`
}
