package orchestrator

import (
	"context"
	"slices"
	"strconv"

	"github.com/reconcilekit/reconcilekit/conditions"
	"github.com/reconcilekit/reconcilekit/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/manager"

	"github.com/reconcilekit/reconcilekit/examples/trustyai/api/v1alpha1"
	"github.com/reconcilekit/reconcilekit/examples/trustyai/counters"
)

var orchestrators = counters.Counter("trustyai_guardrails_orchestrators",
	"Orchestrators by used features, counted at their first status.",
	"orchestrator_namespace", "using_built_in_detectors", "using_sidecar_gateway")

// counter counts new orchestrators.
type counter struct {
	counters.Quiet
	reader client.Reader // of the cache
}

// PassDone counts an orchestrator that had no status before.
func (c *counter) PassDone(ctx context.Context, report reconcile.Report) {
	first := func(t conditions.Transition) bool { return t.Before == nil && t.After.Type == conditions.Ready }
	if !report.StatusWritten || !slices.ContainsFunc(report.Transitions, first) {
		return
	}
	var o v1alpha1.GuardrailsOrchestrator
	if c.reader.Get(ctx, report.Request.NamespacedName, &o) == nil {
		orchestrators.WithLabelValues(
			o.Namespace, strconv.FormatBool(o.Spec.EnableBuiltInDetectors), strconv.FormatBool(o.Spec.EnableGuardrailsGateway),
		).Inc()
	}
}

// prepare lets the counter read from the cache of the manager.
func (c *counter) prepare(mgr manager.Manager) error {
	c.reader = mgr.GetCache()
	return nil
}
