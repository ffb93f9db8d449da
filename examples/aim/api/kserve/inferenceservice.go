package kserve

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/scheme"

	aimv1alpha1 "github.com/reconcilekit/reconcilekit/examples/aim/api/v1alpha1"
)

// GroupVersion is the group and version of InferenceService.
var GroupVersion = schema.GroupVersion{Group: "serving.kserve.io", Version: "v1beta1"}

// AddToScheme registers InferenceService with a scheme.
var AddToScheme = (&scheme.Builder{GroupVersion: GroupVersion}).Register(&InferenceService{}, &InferenceServiceList{}).AddToScheme

// AutoScaling contains the metrics that KServe passes to KEDA.
type AutoScaling struct {
	// Metrics are the metrics for autoscaling. KServe and the product use the same format.
	Metrics []aimv1alpha1.AIMServiceMetricsSpec `json:"metrics,omitempty"`
}

// Predictor is the workload of an InferenceService.
type Predictor struct {
	// MinReplicas is the minimum number of replicas.
	MinReplicas *int32 `json:"minReplicas,omitempty"`
	// MaxReplicas is the maximum number of replicas. The default is minReplicas.
	MaxReplicas int32 `json:"maxReplicas,omitempty"`
	// AutoScaling configures autoscaling by metrics.
	AutoScaling *AutoScaling `json:"autoScaling,omitempty"`
	// Containers are the containers of the pods.
	Containers []corev1.Container `json:"containers,omitempty"`
	// Volumes are the volumes of the pods.
	Volumes []corev1.Volume `json:"volumes,omitempty"`
	// Affinity is the affinity of the pods.
	Affinity *corev1.Affinity `json:"affinity,omitempty"`
	// ImagePullSecrets name the Secrets for pulling the images of the pods.
	ImagePullSecrets []corev1.LocalObjectReference `json:"imagePullSecrets,omitempty"`
	// ServiceAccountName is the name of the ServiceAccount of the pods.
	ServiceAccountName string `json:"serviceAccountName,omitempty"`
}

// InferenceServiceSpec describes an InferenceService.
type InferenceServiceSpec struct {
	// Predictor is the workload.
	Predictor Predictor `json:"predictor"`
}

// Condition is a condition in the format of Knative, without an observed generation.
type Condition struct {
	// Type is the type of the condition.
	Type string `json:"type"`
	// Status is the status of the condition.
	Status corev1.ConditionStatus `json:"status"`
	// Reason is the reason of the last transition.
	Reason string `json:"reason,omitempty"`
	// Message describes the last transition.
	Message string `json:"message,omitempty"`
}

// InferenceServiceStatus is the state of an InferenceService.
type InferenceServiceStatus struct {
	// Conditions are the latest observations of the state of the InferenceService.
	Conditions []Condition `json:"conditions,omitempty"`
}

// InferenceService is a served model.
//
// +kubebuilder:object:root=true
type InferenceService struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// Spec is the desired state of the InferenceService.
	Spec InferenceServiceSpec `json:"spec,omitempty"`
	// Status is the observed state of the InferenceService.
	Status InferenceServiceStatus `json:"status,omitempty"`
}

// IsReady reports whether the condition Ready of the InferenceService is True.
func (s *InferenceService) IsReady() bool {
	return slices.ContainsFunc(s.Status.Conditions, func(c Condition) bool { return c.Type == "Ready" && c.Status == corev1.ConditionTrue })
}

// InferenceServiceList is a list of InferenceService.
//
// +kubebuilder:object:root=true
type InferenceServiceList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	// Items are the objects of the list.
	Items []InferenceService `json:"items"`
}
