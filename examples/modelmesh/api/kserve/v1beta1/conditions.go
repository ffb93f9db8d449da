package v1beta1

import (
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// The conditions that the operator sets.
const (
	Ready          = "Ready"
	PredictorReady = "PredictorReady"
)

// deploymentMode is the annotation of who serves the model.
const deploymentMode = "serving.kserve.io/deploymentMode"

// ModelMesh reports whether ModelMesh serves the model.
func (s *InferenceService) ModelMesh() bool { return s.Annotations[deploymentMode] == "ModelMesh" }

// GetConditions implements reconcile.Owner.
func (s *InferenceService) GetConditions() []metav1.Condition {
	var list []metav1.Condition
	for _, c := range s.Status.Conditions {
		out := metav1.Condition{Type: c.Type, Status: c.Status, Reason: c.Reason, Message: c.Message}
		if at, err := time.Parse(time.RFC3339, c.LastTransitionTime); err == nil {
			out.LastTransitionTime = metav1.NewTime(at)
		}
		list = append(list, out)
	}
	return list
}

// SetConditions implements reconcile.Owner: Ready and PredictorReady alone are set, where ModelMesh serves the model. All others are KServe's.
func (s *InferenceService) SetConditions(list []metav1.Condition) {
	if !s.ModelMesh() {
		return
	}
	for i := range list {
		if c := &list[i]; c.Type == Ready || c.Type == PredictorReady {
			s.set(c)
		}
	}
}

func (s *InferenceService) set(c *metav1.Condition) {
	next := Condition{
		Type: c.Type, Status: c.Status, Reason: c.Reason, Message: c.Message, LastTransitionTime: c.LastTransitionTime.UTC().Format(time.RFC3339),
	}
	at := slices.IndexFunc(s.Status.Conditions, func(stored Condition) bool { return stored.Type == c.Type })
	if at < 0 {
		s.Status.Conditions = append(s.Status.Conditions, next)
		return
	}
	if stored := &s.Status.Conditions[at]; stored.Status != next.Status || stored.Reason != next.Reason || stored.Message != next.Message {
		*stored = next
	}
}
