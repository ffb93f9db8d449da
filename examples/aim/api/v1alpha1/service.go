package v1alpha1

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// AIMServiceModel selects the model of a service with one of three fields.
// +kubebuilder:validation:XValidation:rule="(has(self.name) ? 1 : 0) + (has(self.image) ? 1 : 0) + (has(self.custom) ? 1 : 0) == 1",message="exactly one of name, image, or custom must be specified"
// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="model selection is immutable after creation"
type AIMServiceModel struct {
	// Name is the name of a model in the namespace, or of a cluster model.
	// +optional
	Name *string `json:"name,omitempty"`
	// Image is the image of the model. If no model has the image, one is created.
	// +optional
	Image *string `json:"image,omitempty"`
	// Custom describes a model with custom weights. If the model does not exist, it is created.
	// +optional
	Custom *AIMServiceModelCustom `json:"custom,omitempty"`
}

// AIMServiceModelCustom describes a model with custom weights.
// +kubebuilder:validation:XValidation:rule="size(self.modelSources) >= 1",message="at least one model source must be specified"
type AIMServiceModelCustom struct {
	// BaseImage is the image of the inference container.
	BaseImage string `json:"baseImage"`
	// ModelSources are the locations of the weights.
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=1
	ModelSources []AIMModelSource `json:"modelSources"`
	// Hardware is the hardware that the model needs.
	Hardware AIMHardwareRequirements `json:"hardware"`
}

// AIMServiceTemplateConfig selects the template of a service.
type AIMServiceTemplateConfig struct {
	// Name is the name of a template in the namespace, or of a cluster template. The best
	// candidate is selected if it is empty.
	// +optional
	Name string `json:"name,omitempty"`
	// AllowUnoptimized allows the selection of preview and unoptimized templates.
	// +optional
	AllowUnoptimized bool `json:"allowUnoptimized,omitempty"`
}

// AIMCachingMode states whether the cache of a service can be shared.
// +kubebuilder:validation:Enum=Dedicated;Shared;Auto;Always;Never
type AIMCachingMode string

// The caching modes. The last three are deprecated names of Shared (Auto, Always) and Dedicated (Never).
const (
	CachingModeDedicated AIMCachingMode = "Dedicated"
	CachingModeShared    AIMCachingMode = "Shared"
	CachingModeAuto      AIMCachingMode = "Auto"
	CachingModeAlways    AIMCachingMode = "Always"
	CachingModeNever     AIMCachingMode = "Never"
)

// Normalized returns Dedicated or Shared. An unknown mode is Shared.
func (m AIMCachingMode) Normalized() AIMCachingMode {
	if m == CachingModeDedicated || m == CachingModeNever {
		return CachingModeDedicated
	}
	return CachingModeShared
}

// AIMServiceCachingConfig configures the cache of the weights.
// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="caching mode is immutable after creation"
type AIMServiceCachingConfig struct {
	// Mode states whether the cache can be shared.
	// +kubebuilder:default=Shared
	// +optional
	Mode AIMCachingMode `json:"mode,omitempty"`
}

// AIMServiceOverrides overrides parameters of the template.
type AIMServiceOverrides struct {
	AIMRuntimeParameters `json:",inline"`
}

// AIMServiceMetric identifies a metric.
type AIMServiceMetric struct {
	// Backend is the type of the metrics backend.
	// +kubebuilder:default=opentelemetry
	// +kubebuilder:validation:Enum=opentelemetry
	// +optional
	Backend string `json:"backend,omitempty"`
	// ServerAddress is the address of the backend.
	// +optional
	ServerAddress string `json:"serverAddress,omitempty"`
	// MetricNames are the metrics to collect from the pods.
	// +optional
	MetricNames []string `json:"metricNames,omitempty"`
	// Query is the query for the backend.
	// +optional
	Query string `json:"query,omitempty"`
	// OperationOverTime aggregates values: last_one, avg, max, min, rate, count.
	// +optional
	OperationOverTime string `json:"operationOverTime,omitempty"`
}

// AIMServiceMetricTarget is the target value of a metric.
type AIMServiceMetricTarget struct {
	// Type is the type of the target value.
	// +kubebuilder:validation:Enum=Value;AverageValue;Utilization
	Type string `json:"type"`
	// Value is the target over all pods.
	// +optional
	Value string `json:"value,omitempty"`
	// AverageValue is the target for the average of the pods.
	// +optional
	AverageValue string `json:"averageValue,omitempty"`
	// AverageUtilization is the target in percent of the request.
	// +optional
	AverageUtilization *int32 `json:"averageUtilization,omitempty"`
}

// AIMServicePodMetric is a metric of each pod.
type AIMServicePodMetric struct {
	// Metric is the metric to measure.
	Metric *AIMServiceMetric `json:"metric"`
	// Target is the target value.
	Target *AIMServiceMetricTarget `json:"target"`
}

// AIMServiceMetricsSpec is one metric for autoscaling.
type AIMServiceMetricsSpec struct {
	// Type is the type of the metric.
	// +kubebuilder:validation:Enum=PodMetric
	Type string `json:"type"`
	// PodMetric is the metric of the type PodMetric.
	// +optional
	PodMetric *AIMServicePodMetric `json:"podmetric,omitempty"`
}

// AIMServiceAutoScaling configures autoscaling.
type AIMServiceAutoScaling struct {
	// Metrics are the metrics for autoscaling.
	// +optional
	Metrics []AIMServiceMetricsSpec `json:"metrics,omitempty"`
}

// AIMServiceSpec is the desired state of a service.
type AIMServiceSpec struct {
	// Model selects the model.
	Model AIMServiceModel `json:"model"`
	// Template selects the template.
	// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="template selection is immutable after creation"
	// +optional
	Template AIMServiceTemplateConfig `json:"template,omitempty"`
	// Caching configures the cache of the weights.
	// +optional
	Caching *AIMServiceCachingConfig `json:"caching,omitempty"`
	// CacheModel is deprecated and ignored. Use caching.
	// +optional
	CacheModel *bool `json:"cacheModel,omitempty"`
	// Replicas is the number of replicas without autoscaling.
	// +kubebuilder:default=1
	// +optional
	Replicas *int32 `json:"replicas,omitempty"`
	// MinReplicas is the minimum number of replicas and enables autoscaling. The default is 1.
	// +kubebuilder:validation:Minimum=1
	// +optional
	MinReplicas *int32 `json:"minReplicas,omitempty"`
	// MaxReplicas is the maximum number of replicas and enables autoscaling. The default is minReplicas.
	// +kubebuilder:validation:Minimum=1
	// +optional
	MaxReplicas *int32 `json:"maxReplicas,omitempty"`
	// AutoScaling enables autoscaling by metrics.
	// +optional
	AutoScaling *AIMServiceAutoScaling `json:"autoScaling,omitempty"`
	// RuntimeConfigName is the name of the runtime config. The default is "default".
	// +optional
	RuntimeConfigName string `json:"runtimeConfigName,omitempty"`
	// Resources are the requests and limits of the inference container. They override those of the template.
	// +optional
	Resources *corev1.ResourceRequirements `json:"resources,omitempty"`
	// Overrides overrides parameters of the template.
	// +optional
	Overrides *AIMServiceOverrides `json:"overrides,omitempty"`
	// Env contains environment variables of the inference container. They override those of all other sources.
	// +optional
	// +listType=map
	// +listMapKey=name
	Env []corev1.EnvVar `json:"env,omitempty"`
	// Storage configures new volumes.
	// +optional
	Storage *AIMStorageConfig `json:"storage,omitempty"`
	// Routing configures how the service is published.
	// +optional
	Routing *AIMRuntimeRoutingConfig `json:"routing,omitempty"`
	// ImagePullSecrets name the Secrets for pulling the images of the inference pods.
	// +optional
	ImagePullSecrets []corev1.LocalObjectReference `json:"imagePullSecrets,omitempty"`
	// ServiceAccountName is the name of the ServiceAccount of the inference pods.
	// +optional
	ServiceAccountName string `json:"serviceAccountName,omitempty"`
}

// GetCachingMode returns Dedicated or Shared.
func (s *AIMServiceSpec) GetCachingMode() AIMCachingMode {
	if s.Caching == nil {
		return CachingModeShared
	}
	return s.Caching.Mode.Normalized()
}

// AIMService is a running model.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:scope=Namespaced,shortName=aimsvc,categories=aim;all
// +kubebuilder:printcolumn:name="Status",type=string,JSONPath=`.status.status`
// +kubebuilder:printcolumn:name="Model",type=string,JSONPath=`.status.resolvedModel.name`
// +kubebuilder:printcolumn:name="Template",type=string,JSONPath=`.status.resolvedTemplate.name`
// +kubebuilder:printcolumn:name="Replicas",type=string,JSONPath=`.status.runtime.replicas`
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
type AIMService struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// Spec is the desired state of the service.
	Spec AIMServiceSpec `json:"spec,omitempty"`
	// Status is the observed state of the service.
	Status AIMServiceStatus `json:"status,omitempty"`
}

// AIMServiceList is a list of AIMService.
//
// +kubebuilder:object:root=true
type AIMServiceList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	// Items are the objects of the list.
	Items []AIMService `json:"items"`
}
