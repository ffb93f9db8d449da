package v1alpha1

import (
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/conversion"

	"github.com/reconcilekit/reconcilekit/examples/trustyai/api/v1"
)

// TrustyAIServiceStatus is the observed state of a service.
type TrustyAIServiceStatus struct {
	// Phase is Ready or Not Ready.
	Phase string `json:"phase"`
	// Replicas is never set. It is kept for compatibility.
	Replicas int32 `json:"replicas"`
	// Conditions are the latest observations of the state of the service.
	Conditions []Condition `json:"conditions"`
	// Ready reports as True or False whether the service is ready.
	Ready string `json:"ready,omitempty"`
}

// Condition is a condition without an observed generation.
type Condition struct {
	Type               string                 `json:"type"`
	Status             metav1.ConditionStatus `json:"status"`
	LastTransitionTime metav1.Time            `json:"lastTransitionTime"`
	Reason             string                 `json:"reason"`
	Message            string                 `json:"message"`
}

// TrustyAIService is the older version, with the same spec.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:path=trustyaiservices
type TrustyAIService struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec   v1.TrustyAIServiceSpec `json:"spec,omitempty"`
	Status TrustyAIServiceStatus  `json:"status,omitzero"`
}

// TrustyAIServiceList is a list of services.
//
// +kubebuilder:object:root=true
type TrustyAIServiceList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`

	Items []TrustyAIService `json:"items"`
}

// newerService contains the fields of a service that only v1 has: the generation of its status, and the generations of conditions
// that differ from it.
type newerService struct {
	ObservedGeneration *int64           `json:"observedGeneration,omitempty"`
	Conditions         map[string]int64 `json:"conditions,omitempty"`
}

// ConvertTo converts the object to v1. Unless the annotation contains another generation, the status belongs to the current generation
// of the object.
func (s *TrustyAIService) ConvertTo(hub conversion.Hub) error {
	to, ok := hub.(*v1.TrustyAIService)
	if !ok {
		return fmt.Errorf("convert TrustyAIService to %T: want *v1.TrustyAIService", hub)
	}
	to.ObjectMeta, to.Spec = s.ObjectMeta, s.Spec
	to.Status = v1.TrustyAIServiceStatus{Phase: s.Status.Phase, Replicas: s.Status.Replicas, Ready: s.Status.Ready}
	var kept newerService
	if err := recall(to, &kept); err != nil {
		return err
	}
	observed := ptr.Deref(kept.ObservedGeneration, s.Generation)
	if s.Status.Phase != "" || kept.ObservedGeneration != nil {
		to.Status.ObservedGeneration = observed
	}
	for _, c := range s.Status.Conditions {
		if c.LastTransitionTime.IsZero() {
			c.LastTransitionTime = metav1.Now()
		}
		of, differs := kept.Conditions[c.Type]
		if !differs {
			of = observed
		}
		to.Status.Conditions = append(to.Status.Conditions, metav1.Condition{
			Type: c.Type, Status: c.Status, ObservedGeneration: of,
			LastTransitionTime: c.LastTransitionTime, Reason: c.Reason, Message: c.Message,
		})
	}
	return nil
}

// ConvertFrom converts the object from v1.
func (s *TrustyAIService) ConvertFrom(hub conversion.Hub) error {
	from, ok := hub.(*v1.TrustyAIService)
	if !ok {
		return fmt.Errorf("convert %T to TrustyAIService: want *v1.TrustyAIService", hub)
	}
	s.ObjectMeta, s.Spec = from.ObjectMeta, from.Spec
	s.Status = TrustyAIServiceStatus{
		Phase: from.Status.Phase, Replicas: from.Status.Replicas, Ready: from.Status.Ready, Conditions: []Condition{},
	}
	kept := newerService{ObservedGeneration: &from.Status.ObservedGeneration, Conditions: map[string]int64{}}
	for _, c := range from.Status.Conditions {
		if c.ObservedGeneration != from.Status.ObservedGeneration {
			kept.Conditions[c.Type] = c.ObservedGeneration
		}
		s.Status.Conditions = append(s.Status.Conditions, Condition{c.Type, c.Status, c.LastTransitionTime, c.Reason, c.Message})
	}
	return remember(s, kept, from.Status.ObservedGeneration == 0 && from.Status.Phase == "" && len(from.Status.Conditions) == 0)
}
