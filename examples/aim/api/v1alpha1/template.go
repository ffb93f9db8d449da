package v1alpha1

import (
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// AIMRuntimeParameters describes the target of a profile. It is immutable.
type AIMRuntimeParameters struct {
	// Metric is the metric that the profile optimizes.
	// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="metric is immutable"
	// +optional
	Metric *AIMMetric `json:"metric,omitempty"`
	// Precision is the number format of the profile.
	// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="precision is immutable"
	// +optional
	Precision *AIMPrecision `json:"precision,omitempty"`
	// Hardware is the hardware that the profile needs.
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

	// RuntimeConfigName is the name of the runtime config. The default is "default".
	// +optional
	RuntimeConfigName string `json:"runtimeConfigName,omitempty"`
	// ImagePullSecrets name the Secrets with credentials for the image.
	// +optional
	ImagePullSecrets []corev1.LocalObjectReference `json:"imagePullSecrets,omitempty"`
	// ServiceAccountName is the name of the ServiceAccount of jobs.
	// +optional
	ServiceAccountName string `json:"serviceAccountName,omitempty"`
	// Resources are the requests and limits of the inference container. They override the defaults.
	// +optional
	Resources *corev1.ResourceRequirements `json:"resources,omitempty"`
	// ModelSources are the locations of the weights. By default, they are discovered from the image.
	// +optional
	ModelSources []AIMModelSource `json:"modelSources,omitempty"`
	// ProfileID is the ID of the profile in the image.
	// +optional
	ProfileID string `json:"profileId,omitempty"`
	// Type is the degree of optimization of the profile.
	// +optional
	Type *AIMProfileType `json:"type,omitempty"`
	// Env contains environment variables of the inference container.
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
	// Env contains environment variables of the download container.
	// +optional
	// +listType=map
	// +listMapKey=name
	Env []corev1.EnvVar `json:"env,omitempty"`
}

// AIMServiceTemplateSpec is the desired state of a namespaced template.
type AIMServiceTemplateSpec struct {
	AIMServiceTemplateSpecCommon `json:",inline"`

	// Caching configures the cache of the weights.
	// +optional
	Caching *AIMTemplateCachingConfig `json:"caching,omitempty"`
}

// AIMClusterServiceTemplateSpec is the desired state of a cluster template.
type AIMClusterServiceTemplateSpec struct {
	AIMServiceTemplateSpecCommon `json:",inline"`
}

// AIMProfileMetadata describes a profile.
type AIMProfileMetadata struct {
	// Engine is the inference engine of the profile.
	// +optional
	Engine string `json:"engine,omitempty"`
	// GPU is the GPU model of the profile.
	// +optional
	GPU string `json:"gpu,omitempty"`
	// GPUCount is the number of GPUs of the profile.
	// +optional
	GPUCount int32 `json:"gpuCount,omitempty"`
	// Metric is the metric that the profile optimizes.
	// +optional
	Metric AIMMetric `json:"metric,omitempty"`
	// Precision is the number format of the profile.
	// +optional
	Precision AIMPrecision `json:"precision,omitempty"`
	// Type is the degree of optimization of the profile.
	// +optional
	Type AIMProfileType `json:"type,omitempty"`
}

// AIMProfile is the profile of a template, as discovered from the image.
type AIMProfile struct {
	// EngineArgs are the arguments of the engine.
	// +optional
	// +kubebuilder:pruning:PreserveUnknownFields
	EngineArgs *apiextensionsv1.JSON `json:"engine_args,omitempty"`
	// EnvVars are the environment variables of the profile.
	// +optional
	EnvVars map[string]string `json:"env_vars,omitempty"`
	// Metadata describes the profile.
	// +optional
	Metadata AIMProfileMetadata `json:"metadata,omitempty"`
	// OriginalDiscoveryOutput is the raw output of the discovery.
	// +optional
	// +kubebuilder:pruning:PreserveUnknownFields
	OriginalDiscoveryOutput *apiextensionsv1.JSON `json:"originalDiscoveryOutput,omitempty"`
}

// AIMDiscoveryState records the attempts of a discovery.
type AIMDiscoveryState struct {
	// Attempts is the number of attempts.
	// +optional
	Attempts int32 `json:"attempts,omitempty"`
	// LastAttemptTime is the start time of the last attempt.
	// +optional
	LastAttemptTime *metav1.Time `json:"lastAttemptTime,omitempty"`
	// LastFailureReason is the reason why the last attempt failed.
	// +optional
	LastFailureReason string `json:"lastFailureReason,omitempty"`
	// SpecHash is the hash of the template's spec at the last attempt.
	// +optional
	SpecHash string `json:"specHash,omitempty"`
}

// AIMServiceTemplateStatus is the observed state of a template.
type AIMServiceTemplateStatus struct {
	// ObservedGeneration is the metadata.generation that the controller last observed.
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`
	// Conditions are the latest observations of the state of the template.
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
	// ResolvedNodeAffinity is the node affinity of the inference pods.
	// +optional
	ResolvedNodeAffinity *corev1.NodeAffinity `json:"resolvedNodeAffinity,omitempty"`
	// HardwareSummary describes the required hardware as human-readable text.
	// +optional
	HardwareSummary string `json:"hardwareSummary,omitempty"`
	// Status summarizes the conditions in one word.
	// +kubebuilder:default=Pending
	// +kubebuilder:validation:Enum=Pending;Progressing;Ready;Degraded;Failed;NotAvailable
	// +optional
	Status AIMStatus `json:"status,omitempty"`
	// ModelSources are the discovered locations of the weights.
	// +optional
	ModelSources []AIMModelSource `json:"modelSources,omitempty"`
	// Profile is the discovered profile.
	// +optional
	Profile *AIMProfile `json:"profile,omitempty"`
	// DiscoveryJob refers to the Job that reads the image.
	// +optional
	DiscoveryJob *AIMResolvedReference `json:"discoveryJob,omitempty"`
	// Discovery records the attempts of the discovery.
	// +optional
	Discovery *AIMDiscoveryState `json:"discovery,omitempty"`
}

// AIMServiceTemplate describes how a model runs, for the services of a namespace.
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

	// Spec is the desired state of the template.
	Spec AIMServiceTemplateSpec `json:"spec,omitempty"`
	// Status is the observed state of the template.
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
	// Items are the objects of the list.
	Items []AIMServiceTemplate `json:"items"`
}

// AIMClusterServiceTemplate describes how a model runs, for the services of all namespaces.
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

	// Spec is the desired state of the template.
	Spec AIMClusterServiceTemplateSpec `json:"spec,omitempty"`
	// Status is the observed state of the template.
	Status AIMServiceTemplateStatus `json:"status,omitempty"`
}

// AIMClusterServiceTemplateList is a list of AIMClusterServiceTemplate.
//
// +kubebuilder:object:root=true
type AIMClusterServiceTemplateList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	// Items are the objects of the list.
	Items []AIMClusterServiceTemplate `json:"items"`
}
