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

// AIMCustomModelSpec contains settings that every custom template inherits.
type AIMCustomModelSpec struct {
	// Hardware is the default hardware of custom templates.
	// +optional
	Hardware *AIMHardwareRequirements `json:"hardware,omitempty"`
	// Type is the default profile type of custom templates.
	// +optional
	Type AIMProfileType `json:"type,omitempty"`
}

// AIMCustomTemplateProfile is the profile of a custom template.
type AIMCustomTemplateProfile struct {
	// Metric is the metric that the profile optimizes.
	// +optional
	Metric AIMMetric `json:"metric,omitempty"`
	// Precision is the number format of the profile.
	// +optional
	Precision AIMPrecision `json:"precision,omitempty"`
}

// AIMCustomTemplate describes a template that is created for a model with custom weights.
type AIMCustomTemplate struct {
	// Name is the name of the template. By default, it is derived from the model.
	// +kubebuilder:validation:MaxLength=63
	// +optional
	Name string `json:"name,omitempty"`
	// Type is the degree of optimization of the profile.
	// +kubebuilder:default=unoptimized
	// +optional
	Type AIMProfileType `json:"type,omitempty"`
	// Hardware is the hardware of the template. The default is that of the model.
	// +optional
	Hardware *AIMHardwareRequirements `json:"hardware,omitempty"`
	// Profile is the profile of the template.
	// +optional
	Profile *AIMCustomTemplateProfile `json:"profile,omitempty"`
	// Env contains environment variables of the inference container.
	// +kubebuilder:validation:MaxItems=64
	// +optional
	// +listType=map
	// +listMapKey=name
	Env []corev1.EnvVar `json:"env,omitempty"`
}

// AIMModelSpec describes an entry of the model catalogue.
// +kubebuilder:validation:XValidation:rule="!has(self.modelSources) || size(self.modelSources) == 0 || (has(self.custom) && has(self.custom.hardware)) || !has(self.customTemplates) || size(self.customTemplates) == 0 || self.customTemplates.all(t, has(t.hardware) || (has(self.custom) && has(self.custom.hardware)))",message="when using modelSources, hardware must be specified: set custom.hardware (inherited by all templates) or set hardware on each template individually"
type AIMModelSpec struct {
	// Image is the image of the inference container.
	// +kubebuilder:validation:MinLength=1
	Image string `json:"image"`
	// Discovery configures the discovery from the image.
	// +optional
	Discovery *AIMModelDiscoveryConfig `json:"discovery,omitempty"`
	// DefaultServiceTemplate is the name of the template for services without one.
	// +optional
	DefaultServiceTemplate string `json:"defaultServiceTemplate,omitempty"`
	// Custom contains settings of a model with custom weights.
	// +optional
	Custom *AIMCustomModelSpec `json:"custom,omitempty"`
	// CustomTemplates are the templates that are created for a model with custom weights.
	// +kubebuilder:validation:MaxItems=16
	// +optional
	CustomTemplates []AIMCustomTemplate `json:"customTemplates,omitempty"`
	// ModelSources are the custom weights.
	// +kubebuilder:validation:MaxItems=1
	// +optional
	ModelSources []AIMModelSource `json:"modelSources,omitempty"`
	// RuntimeConfigName is the name of the runtime config. The default is "default".
	// +optional
	RuntimeConfigName string `json:"runtimeConfigName,omitempty"`
	// ImagePullSecrets name the Secrets with credentials for the image.
	// +optional
	ImagePullSecrets []corev1.LocalObjectReference `json:"imagePullSecrets,omitempty"`
	// Env contains environment variables of jobs and inference containers.
	// +optional
	// +listType=map
	// +listMapKey=name
	Env []corev1.EnvVar `json:"env,omitempty"`
	// ServiceAccountName is the name of the ServiceAccount of jobs.
	// +optional
	ServiceAccountName string `json:"serviceAccountName,omitempty"`
	// Resources are the requests and limits of the inference container.
	// +optional
	Resources *corev1.ResourceRequirements `json:"resources,omitempty"`
	// ImageMetadata overrides the metadata of the image.
	// +optional
	ImageMetadata *ImageMetadata `json:"imageMetadata,omitempty"`
}

// AIMModelSourceType is the origin of a model's weights.
// +kubebuilder:validation:Enum=Image;Custom
type AIMModelSourceType string

// AIMModelStatus is the observed state of a model.
type AIMModelStatus struct {
	// ObservedGeneration is the metadata.generation that the controller last observed.
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`
	// Status summarizes the conditions in one word.
	// +kubebuilder:default=Pending
	// +kubebuilder:validation:Enum=Pending;Progressing;Ready;Degraded;Failed;NotAvailable
	// +optional
	Status AIMStatus `json:"status,omitempty"`
	// Conditions are the latest observations of the state of the model.
	// +optional
	// +listType=map
	// +listMapKey=type
	Conditions []metav1.Condition `json:"conditions,omitempty"`
	// ResolvedRuntimeConfig is the runtime config in use.
	// +optional
	ResolvedRuntimeConfig *AIMResolvedReference `json:"resolvedRuntimeConfig,omitempty"`
	// ImageMetadata is the metadata in the image.
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

	// Spec is the desired state of the model.
	Spec AIMModelSpec `json:"spec,omitempty"`
	// Status is the observed state of the model.
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
	// Items are the objects of the list.
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

	// Spec is the desired state of the model.
	Spec AIMModelSpec `json:"spec,omitempty"`
	// Status is the observed state of the model.
	Status AIMModelStatus `json:"status,omitempty"`
}

// AIMClusterModelList is a list of AIMClusterModel.
//
// +kubebuilder:object:root=true
type AIMClusterModelList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	// Items are the objects of the list.
	Items []AIMClusterModel `json:"items"`
}
