package v1alpha1

import (
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// AIMRuntimeParameters are the target of a profile. They are immutable.
type AIMRuntimeParameters struct {
	// Metric that the profile is tuned for.
	// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="metric is immutable"
	// +optional
	Metric *AIMMetric `json:"metric,omitempty"`
	// Precision of the profile.
	// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="precision is immutable"
	// +optional
	Precision *AIMPrecision `json:"precision,omitempty"`
	// Hardware that the profile needs.
	// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="hardware is immutable"
	// +optional
	Hardware *AIMHardwareRequirements `json:"hardware,omitempty"`
}

// AIMServiceTemplateSpecCommon contains the fields that namespaced and cluster templates share.
type AIMServiceTemplateSpecCommon struct {
	// ModelName is the model that the template is for.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="model name is immutable"
	ModelName string `json:"modelName"`

	AIMRuntimeParameters `json:",inline"`

	// RuntimeConfigName is the runtime config; `default` when empty.
	// +optional
	RuntimeConfigName string `json:"runtimeConfigName,omitempty"`
	// ImagePullSecrets for the image.
	// +optional
	ImagePullSecrets []corev1.LocalObjectReference `json:"imagePullSecrets,omitempty"`
	// ServiceAccountName of jobs.
	// +optional
	ServiceAccountName string `json:"serviceAccountName,omitempty"`
	// Resources of the inference container, over the defaults.
	// +optional
	Resources *corev1.ResourceRequirements `json:"resources,omitempty"`
	// ModelSources are the weights; discovered when unset.
	// +optional
	ModelSources []AIMModelSource `json:"modelSources,omitempty"`
	// ProfileID of the profile in the image.
	// +optional
	ProfileID string `json:"profileId,omitempty"`
	// Type of the profile.
	// +optional
	Type *AIMProfileType `json:"type,omitempty"`
	// Env of the inference container.
	// +optional
	// +listType=map
	// +listMapKey=name
	Env []corev1.EnvVar `json:"env,omitempty"`
}

// AIMTemplateCachingConfig configures the cache of the weights.
type AIMTemplateCachingConfig struct {
	// Enabled caches the weights as soon as the template is ready.
	// +kubebuilder:default=false
	// +optional
	Enabled bool `json:"enabled,omitempty"`
	// Env of the download.
	// +optional
	// +listType=map
	// +listMapKey=name
	Env []corev1.EnvVar `json:"env,omitempty"`
}

// AIMServiceTemplateSpec describes a template of a namespace.
type AIMServiceTemplateSpec struct {
	AIMServiceTemplateSpecCommon `json:",inline"`

	// Caching of the weights.
	// +optional
	Caching *AIMTemplateCachingConfig `json:"caching,omitempty"`
}

// AIMClusterServiceTemplateSpec describes a template of the cluster.
type AIMClusterServiceTemplateSpec struct {
	AIMServiceTemplateSpecCommon `json:",inline"`
}

// AIMProfileMetadata describes a profile.
type AIMProfileMetadata struct {
	// Engine of the profile.
	// +optional
	Engine string `json:"engine,omitempty"`
	// GPU model of the profile.
	// +optional
	GPU string `json:"gpu,omitempty"`
	// GPUCount of the profile.
	// +optional
	GPUCount int32 `json:"gpuCount,omitempty"`
	// Metric that the profile is tuned for.
	// +optional
	Metric AIMMetric `json:"metric,omitempty"`
	// Precision of the profile.
	// +optional
	Precision AIMPrecision `json:"precision,omitempty"`
	// Type of the profile.
	// +optional
	Type AIMProfileType `json:"type,omitempty"`
}

// AIMProfile is the profile of a template, as discovered from the image.
type AIMProfile struct {
	// EngineArgs of the profile.
	// +optional
	// +kubebuilder:pruning:PreserveUnknownFields
	EngineArgs *apiextensionsv1.JSON `json:"engine_args,omitempty"`
	// EnvVars of the profile.
	// +optional
	EnvVars map[string]string `json:"env_vars,omitempty"`
	// Metadata of the profile.
	// +optional
	Metadata AIMProfileMetadata `json:"metadata,omitempty"`
	// OriginalDiscoveryOutput is the raw output of the discovery.
	// +optional
	// +kubebuilder:pruning:PreserveUnknownFields
	OriginalDiscoveryOutput *apiextensionsv1.JSON `json:"originalDiscoveryOutput,omitempty"`
}

// AIMDiscoveryState counts the attempts of a discovery.
type AIMDiscoveryState struct {
	// Attempts so far.
	// +optional
	Attempts int32 `json:"attempts,omitempty"`
	// LastAttemptTime is when the last one started.
	// +optional
	LastAttemptTime *metav1.Time `json:"lastAttemptTime,omitempty"`
	// LastFailureReason of the last one.
	// +optional
	LastFailureReason string `json:"lastFailureReason,omitempty"`
	// SpecHash of the template that was tried.
	// +optional
	SpecHash string `json:"specHash,omitempty"`
}

// AIMServiceTemplateStatus is the state of a template.
type AIMServiceTemplateStatus struct {
	// ObservedGeneration is the generation that was last seen.
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`
	// Conditions of the template.
	// +optional
	// +listType=map
	// +listMapKey=type
	Conditions []metav1.Condition `json:"conditions,omitempty"`
	// ResolvedRuntimeConfig is the runtime config in use.
	// +optional
	ResolvedRuntimeConfig *AIMResolvedReference `json:"resolvedRuntimeConfig,omitempty"`
	// ResolvedModel is the model in use.
	// +optional
	ResolvedModel *AIMResolvedReference `json:"resolvedModel,omitempty"`
	// ResolvedCache is the cache in use.
	// +optional
	ResolvedCache *AIMResolvedReference `json:"resolvedCache,omitempty"`
	// ResolvedHardware is the hardware that the profile needs.
	// +optional
	ResolvedHardware *AIMHardwareRequirements `json:"resolvedHardware,omitempty"`
	// ResolvedNodeAffinity places the inference pods.
	// +optional
	ResolvedNodeAffinity *corev1.NodeAffinity `json:"resolvedNodeAffinity,omitempty"`
	// HardwareSummary for people.
	// +optional
	HardwareSummary string `json:"hardwareSummary,omitempty"`
	// Status is the state as a single word.
	// +kubebuilder:default=Pending
	// +kubebuilder:validation:Enum=Pending;Progressing;Ready;Degraded;Failed;NotAvailable
	// +optional
	Status AIMStatus `json:"status,omitempty"`
	// ModelSources are the weights that were found.
	// +optional
	ModelSources []AIMModelSource `json:"modelSources,omitempty"`
	// Profile that was found.
	// +optional
	Profile *AIMProfile `json:"profile,omitempty"`
	// DiscoveryJob is the job that looks into the image.
	// +optional
	DiscoveryJob *AIMResolvedReference `json:"discoveryJob,omitempty"`
	// Discovery counts the attempts.
	// +optional
	Discovery *AIMDiscoveryState `json:"discovery,omitempty"`
}

// AIMServiceTemplate is one way to run a model, in a namespace.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:scope=Namespaced,shortName=aimtpl,categories=aim;all
// +kubebuilder:printcolumn:name="Model",type=string,JSONPath=`.spec.modelName`
// +kubebuilder:printcolumn:name="Status",type=string,JSONPath=`.status.status`
// +kubebuilder:printcolumn:name="Hardware",type=string,JSONPath=`.status.hardwareSummary`
// +kubebuilder:printcolumn:name="Metric",type=string,JSONPath=`.status.profile.metadata.metric`
// +kubebuilder:printcolumn:name="Precision",type=string,JSONPath=`.status.profile.metadata.precision`
type AIMServiceTemplate struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// Spec of the template.
	Spec AIMServiceTemplateSpec `json:"spec,omitempty"`
	// Status of the template.
	Status AIMServiceTemplateStatus `json:"status,omitempty"`
}

// IsReady reports whether the template exists and is usable. The receiver may be nil.
func (t *AIMServiceTemplate) IsReady() bool { return t != nil && t.Status.Status == AIMStatusReady }

// AIMServiceTemplateList is a list of AIMServiceTemplate.
//
// +kubebuilder:object:root=true
type AIMServiceTemplateList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	// Items of the list.
	Items []AIMServiceTemplate `json:"items"`
}

// AIMClusterServiceTemplate is one way to run a model, for every namespace.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:scope=Cluster,shortName=aimcltpl,categories=aim;all
// +kubebuilder:printcolumn:name="Model",type=string,JSONPath=`.spec.modelName`
// +kubebuilder:printcolumn:name="Status",type=string,JSONPath=`.status.status`
// +kubebuilder:printcolumn:name="Hardware",type=string,JSONPath=`.status.hardwareSummary`
// +kubebuilder:printcolumn:name="Metric",type=string,JSONPath=`.status.profile.metadata.metric`
// +kubebuilder:printcolumn:name="Precision",type=string,JSONPath=`.status.profile.metadata.precision`
type AIMClusterServiceTemplate struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// Spec of the template.
	Spec AIMClusterServiceTemplateSpec `json:"spec,omitempty"`
	// Status of the template.
	Status AIMServiceTemplateStatus `json:"status,omitempty"`
}

// AIMClusterServiceTemplateList is a list of AIMClusterServiceTemplate.
//
// +kubebuilder:object:root=true
type AIMClusterServiceTemplateList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	// Items of the list.
	Items []AIMClusterServiceTemplate `json:"items"`
}
