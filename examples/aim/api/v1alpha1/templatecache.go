package v1alpha1

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// AIMTemplateCacheMode states whether several services can use a cache.
// +kubebuilder:validation:Enum=Dedicated;Shared
type AIMTemplateCacheMode string

// The modes of a cache.
const (
	TemplateCacheModeDedicated AIMTemplateCacheMode = "Dedicated"
	TemplateCacheModeShared    AIMTemplateCacheMode = "Shared"
)

// AIMServiceTemplateScope is the scope of a cache's template.
// +kubebuilder:validation:Enum=Namespace;Cluster;Unknown
type AIMServiceTemplateScope string

// The scopes of a cache's template.
const (
	AIMServiceTemplateScopeNamespace AIMServiceTemplateScope = "Namespace"
	AIMServiceTemplateScopeCluster   AIMServiceTemplateScope = "Cluster"
	AIMServiceTemplateScopeUnknown   AIMServiceTemplateScope = "Unknown"
)

// AIMTemplateCacheSpec is the desired state of a cache.
type AIMTemplateCacheSpec struct {
	// TemplateName is the name of the template whose weights are cached.
	// +kubebuilder:validation:MinLength=1
	TemplateName string `json:"templateName"`
	// TemplateScope is the scope of the template.
	TemplateScope AIMServiceTemplateScope `json:"templateScope"`
	// Env contains environment variables of the download container.
	// +optional
	// +listType=map
	// +listMapKey=name
	Env []corev1.EnvVar `json:"env,omitempty"`
	// ImagePullSecrets name the Secrets for pulling the download image.
	// +optional
	ImagePullSecrets []corev1.LocalObjectReference `json:"imagePullSecrets,omitempty"`
	// StorageClassName is the storage class of the volumes.
	// +optional
	StorageClassName string `json:"storageClassName,omitempty"`
	// DownloadImage is the image of the download.
	// +optional
	DownloadImage string `json:"downloadImage,omitempty"`
	// ModelSources are the locations of the weights.
	// +optional
	ModelSources []AIMModelSource `json:"modelSources,omitempty"`
	// RuntimeConfigName is the name of the runtime config. The default is "default".
	// +optional
	RuntimeConfigName string `json:"runtimeConfigName,omitempty"`
	// Mode states whether several services can use the cache.
	// +kubebuilder:default=Shared
	// +optional
	Mode AIMTemplateCacheMode `json:"mode,omitempty"`
}

// AIMResolvedArtifact is an artifact that a cache uses.
type AIMResolvedArtifact struct {
	// UID is the UID of the artifact.
	UID string `json:"uid"`
	// Name is the name of the artifact.
	Name string `json:"name"`
	// Model is the model of the weights.
	Model string `json:"model"`
	// Status is the observed state of the artifact.
	Status AIMStatus `json:"status"`
	// PersistentVolumeClaim is the name of the claim that contains the weights.
	// +optional
	PersistentVolumeClaim string `json:"persistentVolumeClaim,omitempty"`
	// MountPoint is the path in the inference container. By default, it is derived from the model.
	// +optional
	MountPoint string `json:"mountPoint,omitempty"`
}

// AIMTemplateCacheStatus is the observed state of a cache.
type AIMTemplateCacheStatus struct {
	// ObservedGeneration is the metadata.generation that the controller last observed.
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`
	// Conditions are the latest observations of the state of the cache.
	// +optional
	// +listType=map
	// +listMapKey=type
	Conditions []metav1.Condition `json:"conditions,omitempty"`
	// ResolvedRuntimeConfig is the runtime config in use.
	// +optional
	ResolvedRuntimeConfig *AIMResolvedReference `json:"resolvedRuntimeConfig,omitempty"`
	// Status summarizes the conditions in one word.
	// +kubebuilder:default=Pending
	// +kubebuilder:validation:Enum=Pending;Progressing;Ready;Failed;Degraded;NotAvailable
	// +optional
	Status AIMStatus `json:"status,omitempty"`
	// ResolvedTemplateKind is the kind of the template.
	// +optional
	ResolvedTemplateKind string `json:"resolvedTemplateKind,omitempty"`
	// Artifacts are the artifacts in use, keyed by model.
	// +optional
	Artifacts map[string]AIMResolvedArtifact `json:"artifacts,omitempty"`
}

// AIMTemplateCache stores the weights of a template on volumes.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:scope=Namespaced,shortName=aimtc,categories=aim;all
// +kubebuilder:printcolumn:name="Template",type=string,JSONPath=`.spec.templateName`
// +kubebuilder:printcolumn:name="Mode",type=string,JSONPath=`.spec.mode`
// +kubebuilder:printcolumn:name="Status",type=string,JSONPath=`.status.status`
// +kubebuilder:printcolumn:name="Kind",type=string,JSONPath=`.status.resolvedTemplateKind`
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
type AIMTemplateCache struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// Spec is the desired state of the cache.
	Spec AIMTemplateCacheSpec `json:"spec,omitempty"`
	// Status is the observed state of the cache.
	Status AIMTemplateCacheStatus `json:"status,omitempty"`
}

// IsReady reports whether the cache exists and is usable. The receiver may be nil.
func (c *AIMTemplateCache) IsReady() bool { return c != nil && c.Status.Status == AIMStatusReady }

// AIMTemplateCacheList is a list of AIMTemplateCache.
//
// +kubebuilder:object:root=true
type AIMTemplateCacheList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	// Items are the objects of the list.
	Items []AIMTemplateCache `json:"items"`
}
