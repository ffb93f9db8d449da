package orchestrator

import (
	"slices"
	"time"

	"github.com/reconcilekit/reconcilekit/conditions"
	"github.com/reconcilekit/reconcilekit/reconcile"

	"github.com/reconcilekit/reconcilekit/examples/trustyai/api/v1alpha1"
	"github.com/reconcilekit/reconcilekit/examples/trustyai/guardrails"
)

// DecorateStatus sets the conditions of the product, the phase, and the generated configuration.
func (Reconciler) DecorateStatus(
	status *v1alpha1.GuardrailsOrchestratorStatus, cm *conditions.Manager,
	_ reconcile.StatusContext[*v1alpha1.GuardrailsOrchestrator], obs Observation,
) {
	status.AutoConfigState = obs.state()
	switch {
	case obs.invalid != "":
		status.Phase = guardrails.Error
		cm.MarkFalse("Progressing", "ReconcileFailed", obs.invalid, conditions.Silent)
		cm.MarkTrue("ReconcileFailed", "ReconcileFailed", obs.invalid, conditions.AsWarning)
		return
	case obs.waits != "":
		status.Phase = guardrails.Progressing
		cm.MarkTrue("Progressing", "ReconcileInit", "Initializing GuardrailsOrchestrator resource", conditions.Silent)
		cm.MarkFalse("ReconcileComplete", "Waiting", conditions.Bound(obs.waits))
		cm.Delete("ReconcileFailed")
		return
	}
	cm.Delete("ReconcileFailed")
	if obs.owner.Spec.AutoConfig != nil && !obs.owner.Spec.DisableOrchestrator {
		cm.MarkTrue("Available", "AutoConfigured", "Orchestrator is running with auto-generated configuration")
	}
	ready := guardrails.Readiness(cm, "Deployment", true, nil)
	if !obs.owner.Spec.DisableOrchestrator {
		ready = guardrails.Readiness(cm, "InferenceService", len(obs.fetched.models.Value.Items) > 0, nil) && ready
	}
	ready = guardrails.Readiness(cm, "Route", true, obs.unpublished()) && ready
	if !ready {
		status.Phase = guardrails.Progressing
		cm.MarkTrue("Progressing", "ReconcileInit", "Initializing GuardrailsOrchestrator resource")
		cm.Delete("ReconcileComplete")
		return
	}
	status.Phase = guardrails.Ready
	cm.MarkFalse("Progressing", "ReconcileCompleted", "GuardrailsOrchestrator resource successfully initialized", conditions.Silent)
	cm.MarkTrue("ReconcileComplete", "ReconcileCompleted", "GuardrailsOrchestrator resource successfully initialized")
}

// unpublished returns the routes that no router has admitted, in the order of the routes.
func (obs Observation) unpublished() (problems []string) {
	for _, route := range routesOf(obs.owner) {
		if !obs.fetched.routes[route.Name].Value.Admitted() {
			problems = append(problems, "route "+route.Name+" is not admitted")
		}
	}
	return problems
}

// state returns the generated configuration, or the previous one while a prerequisite is missing.
func (obs Observation) state() *v1alpha1.AutoConfigState {
	if obs.owner.Spec.AutoConfig == nil || obs.owner.Spec.DisableOrchestrator {
		return nil
	}
	if obs.found.waits != "" {
		return obs.owner.Status.AutoConfigState
	}
	out := &v1alpha1.AutoConfigState{
		GeneratedConfigMap: new(guardrails.Name(obs.owner.Name, "-auto-config")),
		GenerationService:  obs.found.generation, DetectorServices: slices.Clone(obs.found.detectors),
		Status: "Completed", Message: obs.summary(),
	}
	out.GenerationService.Type = "generation"
	if obs.owner.Spec.EnableGuardrailsGateway {
		out.GeneratedGatewayConfigMap = new(guardrails.Name(obs.owner.Name, "-gateway-auto-config"))
	}
	if generated := obs.fetched.generated.Value; generated != nil {
		out.LastGenerated = generated.CreationTimestamp.UTC().Format(time.RFC3339)
	}
	return out
}
