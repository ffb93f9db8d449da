package evalhub

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/reconcilekit/reconcilekit/conditions"
	"github.com/reconcilekit/reconcilekit/reconcile"
	"github.com/reconcilekit/reconcilekit/reconcile/apply"
	appsv1 "k8s.io/api/apps/v1"

	v1 "github.com/reconcilekit/reconcilekit/examples/trustyai/api/v1"
)

// The phases.
const (
	pending  = "Pending"
	ready    = "Ready"
	errored  = "Error"
	disabled = "Disabled"
)

// DecorateStatus sets the conditions and phases of the product.
func (Reconciler) DecorateStatus(
	status *v1.EvalHubStatus, cm *conditions.Manager, _ reconcile.StatusContext[*v1.EvalHub], obs Observation,
) {
	status.Ready = "False"
	if obs.refused != (problem{}) {
		status.Phase = errored
		cm.MarkFalse(conditions.Ready, obs.refused.reason, conditions.Bound(obs.refused.message), conditions.AsWarning)
		return
	}
	if obs.failed != "" {
		status.Phase = cmp.Or(status.Phase, pending)
		cm.MarkFalse(conditions.Ready, "Error", conditions.Bound(obs.failed), conditions.AsWarning)
		return
	}
	status.ActiveProviders, status.ActiveCollections = wanted(obs.hub, provider), wanted(obs.hub, collection)
	cm.MarkFalse("MonitoringDegraded", "MonitoringReady", "ServiceMonitor is in place")
	d := obs.fetched.deployment.Value
	status.Replicas, status.ReadyReplicas = counts(d)
	if runs(d) && !obs.changing {
		status.Phase, status.Ready, status.URL = ready, "True", obs.names.url("")
		cm.MarkTrue(conditions.Ready, "DeploymentReady", "All replicas are ready")
	} else {
		status.Phase = pending
		cm.MarkFalse(conditions.Ready, "DeploymentNotReady", waiting("deployment to be ready", d))
	}
	status.MCP = obs.mcpStatus(status.MCP, cm)
}

// ObserveApply records that the Deployment was changed: its observed state is outdated.
func (Reconciler) ObserveApply(_ context.Context, _ rcontext, obs Observation, outcome reconcile.ApplyOutcome) Observation {
	obs.changing = slices.ContainsFunc(outcome.Objects, func(o apply.ObjectResult) bool { return o.Unobserved })
	return obs
}

func counts(d *appsv1.Deployment) (replicas, readyReplicas int32) {
	if d == nil {
		return 0, 0
	}
	return d.Status.Replicas, d.Status.ReadyReplicas
}

// runs reports whether all replicas of the current generation are ready.
func runs(d *appsv1.Deployment) bool {
	replicas, readyReplicas := counts(d)
	if d != nil && d.Status.ObservedGeneration > 0 && d.Status.ObservedGeneration < d.Generation {
		return false
	}
	return readyReplicas > 0 && readyReplicas == replicas
}

func waiting(what string, d *appsv1.Deployment) string {
	replicas, readyReplicas := counts(d)
	return fmt.Sprintf("Waiting for %s (%d/%d replicas ready)", what, readyReplicas, replicas)
}

// mcpStatus returns the status of the MCP server, with its own conditions.
func (obs Observation) mcpStatus(stored *v1.MCPStatus, hub *conditions.Manager) *v1.MCPStatus {
	if !obs.mcpEnabled() {
		return &v1.MCPStatus{Phase: disabled}
	}
	out := &v1.MCPStatus{Phase: pending, URL: obs.names.url(mcpSuffix)}
	var before v1.MCPStatus
	if stored != nil {
		before = *stored
	}
	cm := conditions.NewManager(before.Conditions, hub.Generation(), hub.Now())
	cm.MarkTrue("RouteReady", "MCPRouteReady", "The route is in place")
	cm.MarkTrue("Reconciled", "ReconcileComplete", "The objects of the MCP server are in place")
	switch d := obs.fetched.mcp.Value; {
	case d == nil:
		cm.MarkFalse(conditions.Ready, "DeploymentNotFound", "MCP deployment not found")
	case runs(d):
		out.Phase, out.Ready = ready, true
		cm.MarkTrue(conditions.Ready, "DeploymentReady", "All replicas are ready")
	default:
		cm.MarkFalse(conditions.Ready, "DeploymentNotReady", waiting("MCP deployment", d))
	}
	out.Conditions = cm.Conditions()
	return out
}
