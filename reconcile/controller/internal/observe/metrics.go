package observe

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/apimachinery/pkg/types"

	"github.com/reconcilekit/reconcilekit/health"
	"github.com/reconcilekit/reconcilekit/reconcile"
	"github.com/reconcilekit/reconcilekit/reconcile/apply"
	"github.com/reconcilekit/reconcilekit/reconcile/controller/internal/trigger"
	"github.com/reconcilekit/reconcilekit/reconcile/external"
)

// Observer counts the passes of one controller and their results. No label names an object.
type Observer struct {
	name       string
	phases     *prometheus.HistogramVec
	calls      *prometheus.HistogramVec
	ready      *prometheus.HistogramVec
	panics     *prometheus.CounterVec
	passes     *prometheus.CounterVec
	applies    *prometheus.CounterVec
	writes     *prometheus.CounterVec
	contests   *prometheus.CounterVec
	statuses   *prometheus.CounterVec
	requeues   *prometheus.CounterVec
	late       *prometheus.CounterVec
	errors     *prometheus.CounterVec
	next       reconcile.Observer
	LastPasses *LastPasses
	changes    changes

	// series caches the metrics of phases and applies by label, because a lookup in the vectors costs more.
	series sync.Map
}

var _ reconcile.Observer = (*Observer)(nil)

// NewObserver registers the metrics. Controllers share them and differ by a label.
func NewObserver(
	registry prometheus.Registerer, name string, remembers *LastPasses, next reconcile.Observer,
) (*Observer, error) {
	o := &Observer{name: name, LastPasses: remembers, next: next}
	ofCalls := []float64{.0001, .00025, .0005, .001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 30}
	ofOwners := []float64{.1, .25, .5, 1, 2.5, 5, 10, 30, 60, 120, 300, 600, 1800, 3600}
	var errs []error
	var err error
	for _, h := range []struct {
		into **prometheus.HistogramVec
		metric
		buckets []float64
	}{{&o.phases, metricPhases, ofCalls}, {&o.calls, metricCalls, ofCalls}, {&o.ready, metricReady, ofOwners}} {
		*h.into, err = registered(registry, prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Namespace: metricsNamespace, Name: h.name, Help: h.help,
			Buckets:                     h.buckets,
			NativeHistogramBucketFactor: 1.1,
		}, h.allLabels()))
		errs = append(errs, err)
	}
	for _, c := range []struct {
		into **prometheus.CounterVec
		metric
	}{
		{&o.panics, metricPanics},
		{&o.passes, metricPasses},
		{&o.applies, metricApplies},
		{&o.writes, metricWrites},
		{&o.contests, metricContests},
		{&o.statuses, metricStatuses},
		{&o.requeues, metricRequeues},
		{&o.late, metricLate},
		{&o.errors, metricErrors},
	} {
		*c.into, err = registered(registry, prometheus.NewCounterVec(prometheus.CounterOpts{
			Namespace: metricsNamespace, Name: c.name, Help: c.help,
		}, c.allLabels()))
		errs = append(errs, err)
	}
	return o, errors.Join(errs...)
}

// registered registers a collector, or returns the one that another controller has registered.
func registered[C prometheus.Collector](registry prometheus.Registerer, c C) (C, error) {
	err := registry.Register(c)
	var twice prometheus.AlreadyRegisteredError
	if errors.As(err, &twice) {
		if existing, ok := twice.ExistingCollector.(C); ok {
			return existing, nil
		}
	}
	return c, err
}

// PhaseStart implements reconcile.Observer.
func (o *Observer) PhaseStart(ctx context.Context, phase reconcile.Phase) context.Context {
	if o.next != nil {
		return o.next.PhaseStart(ctx, phase)
	}
	return ctx
}

// Panicked counts a panic of a function of the author outside of a pass.
func (o *Observer) Panicked(function string) { o.panics.WithLabelValues(o.name, function).Inc() }

// PhaseDone implements reconcile.Observer.
func (o *Observer) PhaseDone(ctx context.Context, phase reconcile.Phase, took time.Duration, err error) {
	found, known := o.series.Load(phase)
	if !known {
		found, _ = o.series.LoadOrStore(phase, o.phases.WithLabelValues(o.name, string(phase)))
	}
	found.(prometheus.Observer).Observe(took.Seconds()) //nolint:forcetypeassert // only phases are keys
	if err != nil {
		o.panics.WithLabelValues(o.name, string(phase)).Inc()
	}
	if o.next != nil {
		o.next.PhaseDone(ctx, phase, took, err)
	}
}

// Called counts a call to an external system.
func (o *Observer) Called(call external.Call, took time.Duration, err error) {
	result := "ok"
	switch {
	case errors.Is(err, external.ErrNotFound):
		result = "missing"
	case err != nil:
		result = "error"
	}
	o.calls.WithLabelValues(o.name, call.Kind, call.Verb, result).Observe(took.Seconds())
}

// The causes of requeues.
const (
	causeError   = "error"   // the queue retries the error with backoff
	causeHandled = "handled" // an error waits for a planned requeue or for the time that the API server asked for
	causePlanned = "planned" // no error
)

// PassDone implements reconcile.Observer.
func (o *Observer) PassDone(ctx context.Context, report reconcile.Report) {
	o.LastPasses.done(&report)
	if took, ready := o.changes.done(&report, o.LastPasses.clock.Now()); ready {
		o.ready.WithLabelValues(o.name).Observe(took.Seconds())
	}
	for i := range report.Applied.Objects {
		outcome := report.Applied.Objects[i].Outcome
		found, known := o.series.Load(outcome)
		if !known {
			found, _ = o.series.LoadOrStore(outcome, o.applies.WithLabelValues(o.name, string(outcome)))
		}
		found.(prometheus.Counter).Inc() //nolint:forcetypeassert // only outcomes are keys
		o.countWrite(&report.Applied.Objects[i])
	}
	if report.Applied.Owner != nil && report.Applied.OwnerErr == nil {
		o.writes.WithLabelValues(o.name, string(apply.VerbRecord), report.Applied.Owner.GVK.Kind).Inc()
	}
	if report.StatusWritten {
		o.statuses.WithLabelValues(o.name).Inc()
	}
	o.count(report.Outcome.Retry)
	o.count(report.Outcome.Terminal)
	switch {
	case report.Handled != nil:
		o.requeues.WithLabelValues(o.name, causeHandled).Inc()
	case len(report.Outcome.Retry) > 0:
		o.requeues.WithLabelValues(o.name, causeError).Inc()
	case report.Outcome.RequeueAfter > 0:
		o.requeues.WithLabelValues(o.name, causePlanned).Inc()
	}
	if o.next != nil {
		o.next.PassDone(ctx, report)
	}
}

// countWrite counts an accepted write, and an object whose planned fields other managers own.
func (o *Observer) countWrite(object *apply.ObjectResult) {
	if object.Wrote() {
		o.writes.WithLabelValues(o.name, string(object.Verb), object.GVK.Kind).Inc()
	}
	if object.Outcome == apply.OutcomeContested {
		o.contests.WithLabelValues(o.name, object.GVK.Kind).Inc()
	}
}

// Started counts a pass by its trigger, and records the trigger.
func (o *Observer) Started(owner types.NamespacedName, first trigger.Trigger, known bool) {
	o.LastPasses.started(owner, first, known)
	if !known {
		o.passes.WithLabelValues(o.name, triggerRequeue, "").Inc()
		return
	}
	o.passes.WithLabelValues(o.name, first.Event, first.Kind.Kind).Inc()
}

// Changed records that an owner was created or that its spec has changed.
func (o *Observer) Changed(owner types.NamespacedName, generation int64) {
	o.changes.note(owner, generation, o.LastPasses.clock.Now())
}

// count counts the errors of a pass, including those that a requeue retries.
func (o *Observer) count(errs []error) {
	for _, err := range errs {
		kind := ""
		if object := (*apply.ObjectError)(nil); errors.As(err, &object) {
			kind = object.GVK.Kind
		}
		o.errors.WithLabelValues(o.name, health.Categorize(err).Category.String(), kind).Inc()
	}
}

// Waited counts a pass that waits for the cache, or one whose wait has expired.
func (o *Observer) Waited(expired bool) {
	if expired {
		o.late.WithLabelValues(o.name, "expired").Inc()
		return
	}
	o.late.WithLabelValues(o.name, "deferred").Inc()
}
