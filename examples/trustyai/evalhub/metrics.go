package evalhub

import (
	"context"
	"errors"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/reconcilekit/reconcilekit/health"
	"github.com/reconcilekit/reconcilekit/reconcile"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/controller"

	"github.com/reconcilekit/reconcilekit/examples/trustyai/counters"
)

// The metrics of the product, with the names that the exporter of OpenTelemetry gives them.
var (
	passSeconds = counters.Served(prometheus.NewHistogramVec(prometheus.HistogramOpts{
		Name: "evalhub_controller_reconcile_duration_seconds", Help: "Duration of reconciliations.",
	}, []string{"controller", "result"}))
	passTotal  = counters.Counter("evalhub_controller_reconcile_total", "Reconciliations by result.", "controller", "result")
	passErrors = counters.Counter(
		"evalhub_controller_reconcile_errors_total", "Reconciliation errors by category.", "controller", "error_type",
	)
	hubs = counters.Served(prometheus.NewGauge(prometheus.GaugeOpts{
		Name: "evalhub_controller_managed_instances", Help: "Number of hubs.",
	}))
	reported = counters.Counter(
		"evalhub_controller_job_failure_events_total", "Failures of evaluations that were reported to a hub.", "failure_reason",
	)
)

// passes observes the reconciliations of hubs.
type passes struct {
	running sync.Map // state of each reconciliation, by its ID

	mu    sync.Mutex
	known map[types.NamespacedName]bool
}

// onePass is a running reconciliation: the durations of its phases, and the last phase.
type onePass struct {
	took              time.Duration
	fetched, composed bool
}

var _ reconcile.Observer = (*passes)(nil)

// of returns the state of the reconciliation of this context.
func (p *passes) of(ctx context.Context) *onePass {
	found, _ := p.running.LoadOrStore(controller.ReconcileIDFromContext(ctx), &onePass{})
	return found.(*onePass) //nolint:forcetypeassert // the map has no other type
}

// PhaseStart returns the context unchanged.
func (*passes) PhaseStart(ctx context.Context, _ reconcile.Phase) context.Context { return ctx }

// PhaseDone records the duration of the phase.
func (p *passes) PhaseDone(ctx context.Context, phase reconcile.Phase, took time.Duration, _ error) {
	one := p.of(ctx)
	one.took += took
	one.fetched = one.fetched || phase == reconcile.PhaseFetch
	one.composed = one.composed || phase == reconcile.PhaseCompose
}

// PassDone counts the reconciliation, and the hubs. For a hub that is being deleted, the phase Compose does not run.
func (p *passes) PassDone(ctx context.Context, report reconcile.Report) {
	one := p.of(ctx)
	p.running.Delete(controller.ReconcileIDFromContext(ctx))
	name, result := "evalhub", "success"
	if one.fetched && !one.composed {
		name = "evalhub_deletion"
	}
	failures := errors.Join(slices.Concat(report.Outcome.Retry, report.Outcome.Terminal)...)
	switch {
	case failures != nil:
		result = "error"
		passErrors.WithLabelValues(name, string(health.Categorize(failures).Category)).Inc()
	case report.Next > 0 && !report.Applied.Finalized: // a deleted hub is not reconciled again
		result = "requeue"
	}
	passSeconds.WithLabelValues(name, result).Observe(one.took.Seconds())
	passTotal.WithLabelValues(name, result).Inc()
	p.count(report.Request.NamespacedName, !report.Gone && !report.Applied.Finalized)
}

// count updates the number of hubs.
func (p *passes) count(hub types.NamespacedName, there bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.known == nil {
		p.known = map[types.NamespacedName]bool{}
	}
	if p.known[hub] = there; !there {
		delete(p.known, hub)
	}
	hubs.Set(float64(len(p.known)))
}

var reasonPattern = regexp.MustCompile(`reason=(\w+)`)

// failureReason returns the reason of the first failure in a report, such as OOMKilled, or the code of a report without pods.
func failureReason(event statusEvent) string {
	if found := reasonPattern.FindStringSubmatch(event.Error.Message); found != nil {
		return found[1]
	}
	if strings.Contains(event.Error.Message, "pod unschedulable") {
		return "Unschedulable"
	}
	return event.Error.Code
}
