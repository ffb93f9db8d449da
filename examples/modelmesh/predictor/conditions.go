package predictor

import (
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/reconcilekit/reconcilekit/examples/modelmesh/api/kserve/v1beta1"
)

// GetConditions implements reconcile.ConditionAdapter. The times in KServe's conditions are strings.
func (*Services) GetConditions(s *v1beta1.InferenceService) (list []metav1.Condition) {
	for _, c := range s.Status.Conditions {
		out := metav1.Condition{Type: c.Type, Status: c.Status, Reason: c.Reason, Message: c.Message}
		if at, err := time.Parse(time.RFC3339, c.LastTransitionTime); err == nil {
			out.LastTransitionTime = metav1.NewTime(at)
		}
		list = append(list, out)
	}
	return list
}

// SetConditions implements reconcile.ConditionAdapter. It sets only Ready and PredictorReady, and only if ModelMesh serves the
// model. KServe sets all others.
func (*Services) SetConditions(s *v1beta1.InferenceService, list []metav1.Condition) {
	if !s.ModelMesh() {
		return
	}
	for i := range list {
		if c := &list[i]; c.Type == v1beta1.Ready || c.Type == v1beta1.PredictorReady {
			setCondition(&s.Status.Conditions, c)
		}
	}
}

func setCondition(all *[]v1beta1.Condition, c *metav1.Condition) {
	next := v1beta1.Condition{
		Type: c.Type, Status: c.Status, Reason: c.Reason, Message: c.Message, LastTransitionTime: c.LastTransitionTime.UTC().Format(time.RFC3339),
	}
	at := slices.IndexFunc(*all, func(stored v1beta1.Condition) bool { return stored.Type == c.Type })
	if at < 0 {
		*all = append(*all, next)
		return
	}
	if stored := &(*all)[at]; stored.Status != next.Status || stored.Reason != next.Reason || stored.Message != next.Message {
		*stored = next
	}
}
