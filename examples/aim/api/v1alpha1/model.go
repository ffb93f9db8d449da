package v1alpha1

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// AIMModelDiscoveryConfig configures the discovery from the image.
type AIMModelDiscoveryConfig struct {
	// ExtractMetadata reads the labels of the image.
	// +kubebuilder:default=true
	// +optional
	ExtractMetadata *bool `json:"extractMetadata,omitempty"`
	// CreateServiceTemplates creates a template for each recommended deployment.
	// +kubebuilder:default=true
	// +optional
	CreateServiceTemplates *bool `json:"createServiceTemplates,omitempty"`
}

// AIMCustomModelSpec are settings that every custom template inherits.
type AIMCustomModelSpec struct {
	// Hardware of templates that have none of their own.
	// +optional
	Hardware *AIMHardwareRequirements `json:"hardware,omitempty"`
	// Type of templates that have none of their own.
	// +optional
	Type AIMProfileType `json:"type,omitempty"`
}

// AIMCustomTemplateProfile is the profile of a custom template.
type AIMCustomTemplateProfile struct {
	// Metric that the profile is tuned for.
	// +optional
	Metric AIMMetric `json:"metric,omitempty"`
	// Precision of the profile.
	// +optional
	Precision AIMPrecision `json:"precision,omitempty"`
}

// AIMCustomTemplate is a template to make for a model with own weights.
type AIMCustomTemplate struct {
	// Name of the template; derived when empty.
	// +kubebuilder:validation:MaxLength=63
	// +optional
	Name string `json:"name,omitempty"`
	// Type of the profile.
	// +kubebuilder:default=unoptimized
	// +optional
	Type AIMProfileType `json:"type,omitempty"`
	// Hardware of the template; that of the model when unset.
	// +optional
	Hardware *AIMHardwareRequirements `json:"hardware,omitempty"`
	// Profile of the template.
	// +optional
	Profile *AIMCustomTemplateProfile `json:"profile,omitempty"`
	// Env of the inference container.
	// +kubebuilder:validation:MaxItems=64
	// +optional
	// +listType=map
	// +listMapKey=name
	Env []corev1.EnvVar `json:"env,omitempty"`
}

// AIMModelSpec describes an entry of the model catalogue.
// +kubebuilder:validation:XValidation:rule="!has(self.modelSources) || size(self.modelSources) == 0 || (has(self.custom) && has(self.custom.hardware)) || !has(self.customTemplates) || size(self.customTemplates) == 0 || self.customTemplates.all(t, has(t.hardware) || (has(self.custom) && has(self.custom.hardware)))",message="when using modelSources, hardware must be specified: set custom.hardware (inherited by all templates) or set hardware on each template individually"
type AIMModelSpec struct {
	// Image of the inference container.
	// +kubebuilder:validation:MinLength=1
	Image string `json:"image"`
	// Discovery configures the discovery from the image.
	// +optional
	Discovery *AIMModelDiscoveryConfig `json:"discovery,omitempty"`
	// DefaultServiceTemplate names the template of services that name none.
	// +optional
	DefaultServiceTemplate string `json:"defaultServiceTemplate,omitempty"`
	// Custom settings of a model with own weights.
	// +optional
	Custom *AIMCustomModelSpec `json:"custom,omitempty"`
	// CustomTemplates to make for a model with own weights.
	// +kubebuilder:validation:MaxItems=16
	// +optional
	CustomTemplates []AIMCustomTemplate `json:"customTemplates,omitempty"`
	// ModelSources are the own weights.
	// +kubebuilder:validation:MaxItems=1
	// +optional
	ModelSources []AIMModelSource `json:"modelSources,omitempty"`
	// RuntimeConfigName is the runtime config; `default` when empty.
	// +optional
	RuntimeConfigName string `json:"runtimeConfigName,omitempty"`
	// ImagePullSecrets for the image.
	// +optional
	ImagePullSecrets []corev1.LocalObjectReference `json:"imagePullSecrets,omitempty"`
	// Env of jobs and containers.
	// +optional
	// +listType=map
	// +listMapKey=name
	Env []corev1.EnvVar `json:"env,omitempty"`
	// ServiceAccountName of jobs.
	// +optional
	ServiceAccountName string `json:"serviceAccountName,omitempty"`
	// Resources of the inference container.
	// +optional
	Resources *corev1.ResourceRequirements `json:"resources,omitempty"`
	// ImageMetadata replaces the metadata of the image.
	// +optional
	ImageMetadata *ImageMetadata `json:"imageMetadata,omitempty"`
}

// AIMModelSourceType is the origin of a model's weights.
// +kubebuilder:validation:Enum=Image;Custom
type AIMModelSourceType string

// AIMModelStatus is the state of a model.
type AIMModelStatus struct {
	// ObservedGeneration is the generation that was last seen.
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`
	// Status is the state as a single word.
	// +kubebuilder:default=Pending
	// +kubebuilder:validation:Enum=Pending;Progressing;Ready;Degraded;Failed;NotAvailable
	// +optional
	Status AIMStatus `json:"status,omitempty"`
	// Conditions of the model.
	// +optional
	// +listType=map
	// +listMapKey=type
	Conditions []metav1.Condition `json:"conditions,omitempty"`
	// ResolvedRuntimeConfig is the runtime config in use.
	// +optional
	ResolvedRuntimeConfig *AIMResolvedReference `json:"resolvedRuntimeConfig,omitempty"`
	// ImageMetadata as read from the image.
	// +optional
	ImageMetadata *ImageMetadata `json:"imageMetadata,omitempty"`
	// SourceType is the origin of the weights.
	// +optional
	SourceType AIMModelSourceType `json:"sourceType,omitempty"`
}

// AIMModel is an entry of the model catalogue of a namespace.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:scope=Namespaced,shortName=aimmdl,categories=aim;all
// +kubebuilder:printcolumn:name="Status",type=string,JSONPath=`.status.status`
// +kubebuilder:printcolumn:name="Source",type=string,JSONPath=`.status.sourceType`
// +kubebuilder:printcolumn:name="Image",type=string,JSONPath=`.spec.image`
// +kubebuilder:printcolumn:name="Model",type=string,JSONPath=`.status.imageMetadata.model.canonicalName`
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
type AIMModel struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// Spec of the model.
	Spec AIMModelSpec `json:"spec,omitempty"`
	// Status of the model.
	Status AIMModelStatus `json:"status,omitempty"`
}

// IsReady reports whether the model exists and is usable. The receiver may be nil.
func (m *AIMModel) IsReady() bool { return m != nil && m.Status.Status == AIMStatusReady }

// AIMModelList is a list of AIMModel.
//
// +kubebuilder:object:root=true
type AIMModelList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	// Items of the list.
	Items []AIMModel `json:"items"`
}

// AIMClusterModel is an entry of the model catalogue of the cluster.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:scope=Cluster,shortName=aimclmdl,categories=aim;all
// +kubebuilder:printcolumn:name="Status",type=string,JSONPath=`.status.status`
// +kubebuilder:printcolumn:name="Source",type=string,JSONPath=`.status.sourceType`
// +kubebuilder:printcolumn:name="Image",type=string,JSONPath=`.spec.image`
// +kubebuilder:printcolumn:name="Model",type=string,JSONPath=`.status.imageMetadata.model.canonicalName`
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
type AIMClusterModel struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// Spec of the model.
	Spec AIMModelSpec `json:"spec,omitempty"`
	// Status of the model.
	Status AIMModelStatus `json:"status,omitempty"`
}

// AIMClusterModelList is a list of AIMClusterModel.
//
// +kubebuilder:object:root=true
type AIMClusterModelList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	// Items of the list.
	Items []AIMClusterModel `json:"items"`
}
