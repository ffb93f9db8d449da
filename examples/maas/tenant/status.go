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

// What the annotation may say about the management of a tenant.
const (
	managed   = "Managed"
	unmanaged = "Unmanaged"
	removed   = "Removed"
)

// The conditions besides Ready.
const (
	dependencies  = "DependenciesAvailable"
	prerequisites = "MaaSPrerequisitesAvailable"
	deployments   = "DeploymentsAvailable"
	degraded      = "Degraded"
)

// outcome is what the status says, and whether the platform is installed.
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
func (w *world) idle() bool { return w.managementWish == unmanaged || w.managementWish == removed }

// halfNamed reports whether only a part of the gateway's name is given.
func (w *world) halfNamed() bool { return (w.gatewayKey.Name == "") != (w.gatewayKey.Namespace == "") }

// judge finds the first thing that is in the way.
func (w *world) judge() outcome {
	const pending, failed = maasv1alpha1.PhasePending, maasv1alpha1.PhaseFailed
	var o outcome
	switch {
	case w.idle():
		return o.because("", "ManagementStateIdle", "management state is "+w.managementWish)
	case w.managementWish != "" && w.managementWish != managed:
		return o.because(failed, "UnexpectedManagementState",
			fmt.Sprintf("management state %q must be %s, %s or %s", w.managementWish, managed, unmanaged, removed))
	case w.halfNamed():
		return o.because(failed, "InvalidGateway", fmt.Sprintf(
			"spec.gatewayRef needs both name (%q) and namespace (%q), or none", w.gatewayKey.Name, w.gatewayKey.Namespace))
	case w.gateway.IsNotFound():
		return o.because(pending, "GatewayNotReady", fmt.Sprintf("gateway %s not found", w.gatewayKey))
	case controller.IsAbsent(w.authConfigs.Error):
		const message = "authorino.kuadrant.io/v1beta3 AuthConfig is not served"
		return o.because(pending, "DependenciesNotAvailable", message).
			detail(dependencies, metav1.ConditionFalse, "DependencyMissing", message).
			detail(prerequisites, metav1.ConditionUnknown, "DependenciesNotMet", "not looked at").
			detail(deployments, metav1.ConditionFalse, "DependenciesNotMet", message)
	}
	o = o.detail(dependencies, metav1.ConditionTrue, "DependenciesMet", "")
	if message := w.databaseMissing(); message != "" {
		const missing = "PrerequisitesMissing"
		return o.because(failed, "PrerequisitesNotMet", message).
			detail(prerequisites, metav1.ConditionFalse, missing, message).
			detail(degraded, metav1.ConditionTrue, missing, message).
			detail(deployments, metav1.ConditionFalse, missing, message)
	}
	o = o.detail(prerequisites, metav1.ConditionTrue, "PrerequisitesMet", "")
	if w.renderErr != nil {
		return o.because(failed, "PlatformReconcileFailed", w.renderErr.Error()).
			detail(deployments, metav1.ConditionFalse, "PlatformReconcileFailed", w.renderErr.Error())
	}
	o.install = true
	return w.judgePlatform(o)
}

// judgePlatform reports how the platform is that was installed.
func (w *world) judgePlatform(o outcome) outcome {
	phase, warnings := maasv1alpha1.PhaseActive, strings.Join(w.warnings(), "; ")
	if warnings == "" {
		o = o.detail(degraded, metav1.ConditionFalse, "PrerequisitesMet", "")
	} else {
		o = o.detail(degraded, metav1.ConditionTrue, "PrerequisitesWarning", warnings)
		phase = maasv1alpha1.PhaseDegraded
	}
	if message := w.unavailable(); message != "" {
		return o.because(maasv1alpha1.PhasePending, "DeploymentsNotReady", message).
			detail(deployments, metav1.ConditionFalse, "DeploymentsNotReady", message)
	}
	return o.because(phase, string(maasv1alpha1.ReasonReconciled), "successfully reconciled").
		detail(deployments, metav1.ConditionTrue, "DeploymentsReady", "")
}

// databaseMissing reports why the API could not store keys.
func (w *world) databaseMissing() string {
	if w.database.IsNotFound() {
		return fmt.Sprintf("database Secret '%s' not found in namespace '%s'", DatabaseSecret, w.AppNamespace)
	}
	if w.database.OK() && len(w.database.Value.Data[databaseKey]) == 0 {
		return fmt.Sprintf("database Secret '%s' in namespace '%s' has no key '%s'", DatabaseSecret, w.AppNamespace, databaseKey)
	}
	return ""
}

// warnings are what the platform works without.
func (w *world) warnings() []string {
	var out []string
	secure := len(w.authorinos.Value.Items) == 0
	for i := range w.authorinos.Value.Items {
		enabled, _, _ := unstructured.NestedBool(w.authorinos.Value.Items[i].Object, "spec", "listener", "tls", "enabled")
		secure = secure || enabled
	}
	if !secure {
		out = append(out, "no Authorino has spec.listener.tls.enabled")
	}
	if w.monitoring.HasError() || !strings.Contains(w.monitoring.Value.Data["config.yaml"], "enableUserWorkload: true") {
		out = append(out, fmt.Sprintf("ConfigMap %s/%s does not enable the monitoring of user workloads", MonitoringSpace, MonitoringName))
	}
	return out
}

// unavailable reports why the API does not serve yet.
func (w *world) unavailable() string {
	if !w.api.OK() {
		return "Deployment " + apiName + " is not there yet"
	}
	d, want := w.api.Value, ptr.Deref(w.api.Value.Spec.Replicas, 1)
	if s := d.Status; s.ObservedGeneration < d.Generation || s.UpdatedReplicas < want || s.AvailableReplicas < want {
		return fmt.Sprintf("Deployment %s has %d of %d replicas updated and %d available", apiName, s.UpdatedReplicas, want, s.AvailableReplicas)
	}
	return ""
}

// DecorateStatus sets the outcome.
func (*Reconciler) DecorateStatus(status *maasv1alpha1.TenantStatus, cm *conditions.Manager, _ reconcile.StatusContext[*maasv1alpha1.Tenant], w *world) {
	outcome := w.judge()
	status.Phase = outcome.phase
	for _, c := range outcome.details {
		cm.Set(c.Type, c.Status, c.Reason, conditions.Bound(c.Message), conditions.AsInfo)
	}
	ready := outcome.reason == string(maasv1alpha1.ReasonReconciled)
	cm.Set(conditions.Ready, conditions.Status(ready), outcome.reason, conditions.Bound(outcome.message))
}
