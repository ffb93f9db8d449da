package v1alpha1

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// AIMStatus is the state of a model, template, cache or artifact as a single word.
type AIMStatus string

// The states of models, templates, caches and artifacts.
const (
	AIMStatusPending      AIMStatus = "Pending"
	AIMStatusStarting     AIMStatus = "Starting"
	AIMStatusProgressing  AIMStatus = "Progressing"
	AIMStatusReady        AIMStatus = "Ready"
	AIMStatusRunning      AIMStatus = "Running"
	AIMStatusDegraded     AIMStatus = "Degraded"
	AIMStatusNotAvailable AIMStatus = "NotAvailable"
	AIMStatusFailed       AIMStatus = "Failed"
)

// AIMResolutionScope is the scope in which a referenced object was found.
// +kubebuilder:validation:Enum=Namespace;Cluster;Merged;Unknown
type AIMResolutionScope string

// The scopes of a reference.
const (
	AIMResolutionScopeNamespace AIMResolutionScope = "Namespace"
	AIMResolutionScopeCluster   AIMResolutionScope = "Cluster"
	AIMResolutionScopeMerged    AIMResolutionScope = "Merged"
	AIMResolutionScopeUnknown   AIMResolutionScope = "Unknown"
)

// AIMResolvedReference names an object that a controller chose.
type AIMResolvedReference struct {
	// Name is the name of the object.
	Name string `json:"name,omitempty"`
	// Namespace is the namespace of the object. It is empty for a cluster-scoped object.
	// +optional
	Namespace string `json:"namespace,omitempty"`
	// Scope is the scope in which the object was found.
	// +optional
	Scope AIMResolutionScope `json:"scope,omitempty"`
	// Kind is the kind of the object.
	// +optional
	Kind string `json:"kind,omitempty"`
	// UID is the UID of the object.
	// +optional
	UID types.UID `json:"uid,omitempty"`
}

// ReferenceTo returns a reference to an object: one of a namespace, or a cluster-scoped one if it has no namespace.
func ReferenceTo(object metav1.Object) *AIMResolvedReference {
	scope := AIMResolutionScopeNamespace
	if object.GetNamespace() == "" {
		scope = AIMResolutionScopeCluster
	}
	return &AIMResolvedReference{Name: object.GetName(), Namespace: object.GetNamespace(), Scope: scope, UID: object.GetUID()}
}

// AIMMetric is the metric that a profile optimizes.
// +kubebuilder:validation:Enum=latency;throughput
type AIMMetric string

// The metrics that a profile can optimize.
const (
	AIMMetricLatency    AIMMetric = "latency"
	AIMMetricThroughput AIMMetric = "throughput"
)

// AIMPrecision is the number format of a profile.
// +kubebuilder:validation:Enum=auto;fp4;fp8;fp16;fp32;bf16;int4;int8
type AIMPrecision string

// AIMProfileType is the degree of a profile's optimization.
// +kubebuilder:validation:Enum=optimized;preview;unoptimized
type AIMProfileType string

// The profile types, from the most to the least optimized.
const (
	AIMProfileTypeOptimized   AIMProfileType = "optimized"
	AIMProfileTypePreview     AIMProfileType = "preview"
	AIMProfileTypeUnoptimized AIMProfileType = "unoptimized"
)

// AIMHardwareRequirements describes the hardware that a profile needs.
// +kubebuilder:validation:XValidation:rule="has(self.gpu) || has(self.cpu)",message="at least one of gpu or cpu must be specified"
type AIMHardwareRequirements struct {
	// GPU describes the required GPUs. By default, no GPU is required.
	// +optional
	GPU *AIMGpuRequirements `json:"gpu,omitempty"`
	// CPU describes the required CPUs. The controller sets the default.
	// +optional
	CPU *AIMCpuRequirements `json:"cpu,omitempty"`
}

// AIMGpuRequirements describes the GPUs that a profile needs.
// +kubebuilder:validation:XValidation:rule="!(has(self.model) && size(self.model) > 0 && has(self.minVram))",message="model and minVram are mutually exclusive; specify either a specific GPU model OR a minimum VRAM requirement, not both"
type AIMGpuRequirements struct {
	// Requests is the number of GPUs. The default is 0.
	// +kubebuilder:validation:Minimum=0
	// +optional
	Requests int32 `json:"requests,omitempty"`
	// Model is the GPU model, for example MI300X. By default, all models match.
	// +kubebuilder:validation:MaxLength=64
	// +optional
	Model string `json:"model,omitempty"`
	// MinVRAM is the minimum memory of each GPU.
	// +optional
	MinVRAM *resource.Quantity `json:"minVram,omitempty"`
	// ResourceName is the extended resource that is requested.
	// +kubebuilder:default="amd.com/gpu"
	// +optional
	ResourceName string `json:"resourceName,omitempty"`
}

// AIMCpuRequirements describes the CPUs that a profile needs.
type AIMCpuRequirements struct {
	// Requests is the CPU request.
	Requests resource.Quantity `json:"requests"`
	// Limits is the CPU limit. By default, there is no limit.
	// +optional
	Limits *resource.Quantity `json:"limits,omitempty"`
}

// AIMModelSource is a location of a model's weights.
type AIMModelSource struct {
	// ModelID is the name of the model in the form {organisation}/{name}.
	// +kubebuilder:validation:Pattern=`^[a-zA-Z0-9_-]+/[a-zA-Z0-9._-]+$`
	ModelID string `json:"modelId"`
	// SourceURI is the location of the weights: an hf:// or s3:// URI.
	// +kubebuilder:validation:Pattern=`^(hf|s3)://[^ \t\r\n]+$`
	SourceURI string `json:"sourceUri"`
	// Size is the size of the weights. By default, it is determined from the source.
	// +optional
	Size *resource.Quantity `json:"size,omitempty"`
	// Env contains environment variables of the download container, for example tokens.
	// +optional
	// +listType=map
	// +listMapKey=name
	Env []corev1.EnvVar `json:"env,omitempty"`
}

// AIMStorageConfig configures new volumes.
type AIMStorageConfig struct {
	// DefaultStorageClassName is the storage class of new volumes; that of the
	// cluster when unset.
	// +optional
	DefaultStorageClassName *string `json:"defaultStorageClassName,omitempty"`
	// PVCHeadroomPercent is added to the size of the weights, in percent.
	// +kubebuilder:default=10
	// +kubebuilder:validation:Minimum=0
	// +optional
	PVCHeadroomPercent *int32 `json:"pvcHeadroomPercent,omitempty"`
}
