package v1alpha1

import (
	"github.com/reconcilekit/reconcilekit/health"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// AIMServiceState is the state of a service as a single word.
// +kubebuilder:validation:Enum=Pending;Starting;Running;Degraded;Failed
type AIMServiceState string

// AIMServiceCacheStatus is the observed state of a service's cache.
type AIMServiceCacheStatus struct {
	// TemplateCacheRef is the cache in use.
	// +optional
	TemplateCacheRef *AIMResolvedReference `json:"templateCacheRef,omitempty"`
	// RetryAttempts is kept for compatibility and never set.
	// +optional
	RetryAttempts int `json:"retryAttempts,omitempty"`
}

// AIMServiceRoutingStatus is the observed state of a service's route.
type AIMServiceRoutingStatus struct {
	// Path is the path prefix of the service.
	// +optional
	Path string `json:"path,omitempty"`
}

// AIMServiceRuntimeStatus contains the numbers of replicas.
type AIMServiceRuntimeStatus struct {
	// MinReplicas is the minimum number of replicas of the autoscaler.
	// +optional
	MinReplicas int32 `json:"minReplicas,omitempty"`
	// MaxReplicas is the maximum number of replicas of the autoscaler.
	// +optional
	MaxReplicas int32 `json:"maxReplicas,omitempty"`
	// CurrentReplicas is the number of existing replicas.
	// +optional
	CurrentReplicas int32 `json:"currentReplicas,omitempty"`
	// DesiredReplicas is the number of replicas that the autoscaler requests.
	// +optional
	DesiredReplicas int32 `json:"desiredReplicas,omitempty"`
	// Replicas shows the replicas as human-readable text: n, or current/desired (min-max).
	// +optional
	Replicas string `json:"replicas,omitempty"`
}

// AIMServiceStatus is the observed state of a service.
type AIMServiceStatus struct {
	// ObservedGeneration is the metadata.generation that the controller last observed.
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`
	// Conditions are the latest observations of the state of the service.
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
	// ResolvedTemplate is the template in use.
	// +optional
	ResolvedTemplate *AIMResolvedReference `json:"resolvedTemplate,omitempty"`
	// Cache describes the cache in use.
	// +optional
	Cache *AIMServiceCacheStatus `json:"cache,omitempty"`
	// Status summarizes the conditions in one word.
	// +kubebuilder:default=Pending
	// +optional
	Status AIMServiceState `json:"status,omitempty"`
	// Routing describes the route of the service.
	// +optional
	Routing *AIMServiceRoutingStatus `json:"routing,omitempty"`
	// Runtime contains the numbers of replicas.
	// +optional
	Runtime *AIMServiceRuntimeStatus `json:"runtime,omitempty"`
}

// SetObservedGeneration records the generation that the status belongs to.
func (s *AIMService) SetObservedGeneration(generation int64) {
	s.Status.ObservedGeneration = generation
}

// SetState sets the product's status for the state of the components.
//
// The enum of the product's schema has no NotAvailable, and the API server refuses a status with it. SetState stores Degraded
// instead; the conditions have the reason.
func (s *AIMService) SetState(state health.State) {
	switch state {
	case health.Ready:
		s.Status.Status = "Running"
	case health.Starting, health.Progressing:
		s.Status.Status = "Starting"
	case health.NotAvailable:
		s.Status.Status = "Degraded"
	case health.Pending, health.Degraded, health.Failed:
		s.Status.Status = AIMServiceState(state)
	default:
		s.Status.Status = "Failed"
	}
}
