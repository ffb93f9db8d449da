package tenant

import (
	"fmt"
	"strings"

	"github.com/reconcilekit/reconcilekit/conditions"
	"github.com/reconcilekit/reconcilekit/reconcile"
	"github.com/reconcilekit/reconcilekit/reconcile/controller"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/utils/ptr"

	maasv1alpha1 "github.com/reconcilekit/reconcilekit/examples/maas/api/v1alpha1"
)

// Values of the annotation for the management state of a tenant.
const (
	managed   = "Managed"
	unmanaged = "Unmanaged"
	removed   = "Removed"
)

// The conditions in addition to Ready.
const (
	dependencies  = "DependenciesAvailable"
	prerequisites = "MaaSPrerequisitesAvailable"
	deployments   = "DeploymentsAvailable"
	degraded      = "Degraded"
)

// outcome is the content of the status, and whether the platform is installed.
type outcome struct {
	phase           maasv1alpha1.Phase
	reason, message string // of Ready
	install         bool
	details         []metav1.Condition
}

func (o outcome) because(phase maasv1alpha1.Phase, reason, message string) outcome {
	o.phase, o.reason, o.message = phase, reason, message
	return o
}

func (o outcome) detail(conditionType string, status metav1.ConditionStatus, reason, message string) outcome {
	o.details = append(o.details, metav1.Condition{Type: conditionType, Status: status, Reason: reason, Message: message})
	return o
}

// idle reports whether the tenant is switched off.
func (obs *observation) idle() bool {
	return obs.managementState == unmanaged || obs.managementState == removed
}

// halfNamed reports whether the tenant names only part of the gateway.
func (obs *observation) halfNamed() bool {
	return (obs.gatewayKey.Name == "") != (obs.gatewayKey.Namespace == "")
}

// outcome returns the first reason that blocks the platform.
func (obs *observation) outcome() outcome {
	const pending, failed = maasv1alpha1.PhasePending, maasv1alpha1.PhaseFailed
	var o outcome
	switch {
	case obs.idle():
		return o.because("", "ManagementStateIdle", "management state is "+obs.managementState)
	case obs.managementState != "" && obs.managementState != managed:
		return o.because(failed, "UnexpectedManagementState",
			fmt.Sprintf("management state %q must be %s, %s or %s", obs.managementState, managed, unmanaged, removed))
	case obs.halfNamed():
		return o.because(failed, "InvalidGateway", fmt.Sprintf(
			"spec.gatewayRef needs both name (%q) and namespace (%q), or none", obs.gatewayKey.Name, obs.gatewayKey.Namespace))
	case obs.gateway.IsNotFound():
		return o.because(pending, "GatewayNotReady", fmt.Sprintf("gateway %s not found", obs.gatewayKey))
	case controller.IsAbsent(obs.authConfigs.Error):
		const message = "authorino.kuadrant.io/v1beta3 AuthConfig is not served"
		return o.because(pending, "DependenciesNotAvailable", message).
			detail(dependencies, metav1.ConditionFalse, "DependencyMissing", message).
			detail(prerequisites, metav1.ConditionUnknown, "DependenciesNotMet", "not looked at").
			detail(deployments, metav1.ConditionFalse, "DependenciesNotMet", message)
	}
	o = o.detail(dependencies, metav1.ConditionTrue, "DependenciesMet", "")
	if message := obs.databaseMissing(); message != "" {
		const missing = "PrerequisitesMissing"
		return o.because(failed, "PrerequisitesNotMet", message).
			detail(prerequisites, metav1.ConditionFalse, missing, message).
			detail(degraded, metav1.ConditionTrue, missing, message).
			detail(deployments, metav1.ConditionFalse, missing, message)
	}
	o = o.detail(prerequisites, metav1.ConditionTrue, "PrerequisitesMet", "")
	if obs.renderErr != nil {
		return o.because(failed, "PlatformReconcileFailed", obs.renderErr.Error()).
			detail(deployments, metav1.ConditionFalse, "PlatformReconcileFailed", obs.renderErr.Error())
	}
	o.install = true
	return obs.installed(o)
}

// installed returns the state of an installed platform.
func (obs *observation) installed(o outcome) outcome {
	phase, warnings := maasv1alpha1.PhaseActive, strings.Join(obs.warnings(), "; ")
	if warnings == "" {
		o = o.detail(degraded, metav1.ConditionFalse, "PrerequisitesMet", "")
	} else {
		o = o.detail(degraded, metav1.ConditionTrue, "PrerequisitesWarning", warnings)
		phase = maasv1alpha1.PhaseDegraded
	}
	if message := obs.unavailable(); message != "" {
		return o.because(maasv1alpha1.PhasePending, "DeploymentsNotReady", message).
			detail(deployments, metav1.ConditionFalse, "DeploymentsNotReady", message)
	}
	return o.because(phase, string(maasv1alpha1.ReasonReconciled), "successfully reconciled").
		detail(deployments, metav1.ConditionTrue, "DeploymentsReady", "")
}

// databaseMissing returns the reason why the API has no database, or the empty string.
func (obs *observation) databaseMissing() string {
	if obs.database.IsNotFound() {
		return fmt.Sprintf("database Secret '%s' not found in namespace '%s'", DatabaseSecret, obs.AppNamespace)
	}
	if obs.database.OK() && len(obs.database.Value.Data[databaseKey]) == 0 {
		return fmt.Sprintf("database Secret '%s' in namespace '%s' has no key '%s'", DatabaseSecret, obs.AppNamespace, databaseKey)
	}
	return ""
}

// warnings lists missing optional parts of the platform.
func (obs *observation) warnings() []string {
	var out []string
	secure := len(obs.authorinos.Value.Items) == 0
	for i := range obs.authorinos.Value.Items {
		enabled, _, _ := unstructured.NestedBool(obs.authorinos.Value.Items[i].Object, "spec", "listener", "tls", "enabled")
		secure = secure || enabled
	}
	if !secure {
		out = append(out, "no Authorino has spec.listener.tls.enabled")
	}
	if obs.monitoring.HasError() || !strings.Contains(obs.monitoring.Value.Data["config.yaml"], "enableUserWorkload: true") {
		out = append(out, fmt.Sprintf("ConfigMap %s/%s does not enable the monitoring of user workloads", MonitoringSpace, MonitoringName))
	}
	return out
}

// unavailable returns the reason why the API does not serve yet.
func (obs *observation) unavailable() string {
	if !obs.api.OK() {
		return "Deployment " + apiName + " is not there yet"
	}
	d, want := obs.api.Value, ptr.Deref(obs.api.Value.Spec.Replicas, 1)
	if s := d.Status; s.ObservedGeneration < d.Generation || s.UpdatedReplicas < want || s.AvailableReplicas < want {
		return fmt.Sprintf("Deployment %s has %d of %d replicas updated and %d available", apiName, s.UpdatedReplicas, want, s.AvailableReplicas)
	}
	return ""
}

// DecorateStatus writes the outcome into the status.
func (*Reconciler) DecorateStatus(
	status *maasv1alpha1.TenantStatus, cm *conditions.Manager, _ reconcile.StatusContext[*maasv1alpha1.Tenant],
	obs *observation,
) {
	outcome := obs.outcome()
	status.Phase = outcome.phase
	for _, c := range outcome.details {
		cm.Set(c.Type, c.Status, c.Reason, conditions.Bound(c.Message), conditions.AsInfo)
	}
	ready := outcome.reason == string(maasv1alpha1.ReasonReconciled)
	cm.Set(conditions.Ready, conditions.Status(ready), outcome.reason, conditions.Bound(outcome.message))
}
