package inspect

import (
	"cmp"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/reconcilekit/reconcilekit/health"
)

// ofKind inspects kinds of Kubernetes with other condition types, or whose health is not in conditions.
func (r *report) ofKind() (health.Component, bool) {
	switch {
	case r.is("apiextensions.k8s.io", "CustomResourceDefinition"):
		return r.definition(), true
	case r.is("apiregistration.k8s.io", "APIService") && r.find("Available") == nil:
		return progressing("ConditionMissing", r.kind+" does not report Available yet"), true
	case r.is("policy", "PodDisruptionBudget"):
		// DisruptionAllowed is also False while too few pods are ready, which is the purpose of the budget.
		if c := r.find("DisruptionAllowed"); c != nil && c.Reason == "SyncFailed" {
			return health.Component{State: health.Degraded, Reason: c.Reason, Message: c.Message}, true
		}
	}
	return health.Component{}, false
}

// is reports whether the object is of the kind. A typed object may lack its group.
func (r *report) is(group, kind string) bool {
	return r.kind == kind && (r.group == "" || r.group == group)
}

// definition inspects a CustomResourceDefinition. It is ready if the API server serves the kind. See
// https://kubernetes.io/docs/tasks/extend-kubernetes/custom-resources/custom-resource-definitions/.
func (r *report) definition() health.Component {
	if c := r.find("NamesAccepted"); c != nil && c.Status == metav1.ConditionFalse {
		return broken(health.InvalidSpec, cmp.Or(c.Reason, "NamesNotAccepted"), c.Message)
	}
	c := r.find("Established")
	switch {
	case c == nil:
		return progressing("ConditionMissing", r.kind+" does not report Established yet")
	case c.Status == metav1.ConditionTrue:
		return ready("Established", r.kind+" is established")
	}
	return progressing(cmp.Or(c.Reason, "NotEstablished"), c.Message)
}
