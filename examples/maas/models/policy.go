package models

import (
	"github.com/reconcilekit/reconcilekit/reconcile"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	maasv1alpha1 "github.com/reconcilekit/reconcilekit/examples/maas/api/v1alpha1"
)

// Policy is a kind of policy. The operator generates one for each model.
type Policy struct {
	GVK    schema.GroupVersionKind
	prefix string

	silent     maasv1alpha1.Reason // if the policy has no conditions
	silence    string              // the message for silent
	ready      maasv1alpha1.Reason // if all of these conditions are true
	conditions []string
}

// The generated policies: access and token limits.
var (
	Access = Policy{
		AuthPolicy, "maas-auth-",
		maasv1alpha1.ReasonConditionsNotFound, "status conditions not available", maasv1alpha1.ReasonAcceptedEnforced,
		[]string{"Accepted", "Enforced"},
	}
	Limits = Policy{
		TokenRateLimitPolicy, "maas-trlp-",
		maasv1alpha1.ReasonNotAccepted, "status not available", maasv1alpha1.ReasonAccepted,
		[]string{"Accepted"},
	}
)

// Key returns the name of the policy of a model.
func (p Policy) Key(model types.NamespacedName) types.NamespacedName {
	return Key(model.Namespace, p.prefix+model.Name)
}

// State returns the state of the policy of a model, from its conditions.
func (p Policy) State(model types.NamespacedName, policy reconcile.FetchResult[*unstructured.Unstructured]) maasv1alpha1.ResourceRefStatus {
	key, list := p.Key(model), Conditions(policy.Value)
	unready := func(reason maasv1alpha1.Reason, message string) maasv1alpha1.ResourceRefStatus {
		return Unready(key, reason, message)
	}
	switch {
	case policy.IsNotFound():
		return unready(maasv1alpha1.ReasonNotFound, p.GVK.Kind+" not created yet")
	case policy.HasError():
		return unready(maasv1alpha1.ReasonGetFailed, policy.Error.Error())
	case len(list) == 0:
		return unready(p.silent, p.silence)
	}
	for _, name := range p.conditions {
		not := maasv1alpha1.Reason("Not" + name)
		if c := meta.FindStatusCondition(list, name); c == nil {
			return unready(not, name+" condition not found")
		} else if c.Status != metav1.ConditionTrue {
			return unready(not, c.Message)
		}
	}
	return maasv1alpha1.ResourceRefStatus{Name: key.Name, Namespace: key.Namespace, Ready: true, Reason: p.ready}
}
