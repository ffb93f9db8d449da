package controller

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/reconcilekit/reconcilekit/health"
	"github.com/reconcilekit/reconcilekit/reconcile"
	"github.com/reconcilekit/reconcilekit/reconcile/apply"
)

const (
	metricsNamespace = "reconcilekit"
	collectTimeout   = 5 * time.Second // well below the usual scrape timeout of 10 s
)

// observer counts what happens in the passes of one controller. No label names an object.
type observer struct {
	name     string
	phases   *prometheus.HistogramVec
	panics   *prometheus.CounterVec
	applies  *prometheus.CounterVec
	statuses *prometheus.CounterVec
	requeues *prometheus.CounterVec
	late     *prometheus.CounterVec
	errors   *prometheus.CounterVec
	next     reconcile.Observer

	// series are the children of phases and applies that were used, by label: looking them up there costs more.
	series sync.Map
}

var _ reconcile.Observer = (*observer)(nil)

// newObserver registers the metrics. Controllers share them and are told apart by a label.
func newObserver(registry prometheus.Registerer, name string, next reconcile.Observer) (*observer, error) {
	o := &observer{name: name, next: next}
	counter := func(metric, help string, labels ...string) *prometheus.CounterVec {
		return prometheus.NewCounterVec(prometheus.CounterOpts{
			Namespace: metricsNamespace, Name: metric, Help: help,
		}, append([]string{"controller"}, labels...))
	}
	var errs [7]error
	o.phases, errs[0] = registered(registry, prometheus.NewHistogramVec(prometheus.HistogramOpts{
		Namespace: metricsNamespace, Name: "phase_duration_seconds", Help: "Duration of the phases of a pass.",
		Buckets:                     []float64{.0001, .00025, .0005, .001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 30},
		NativeHistogramBucketFactor: 1.1,
	}, []string{"controller", "phase"}))
	o.panics, errs[1] = registered(registry,
		counter("phase_panics_total", "Phases that panicked.", "phase"))
	o.applies, errs[2] = registered(registry,
		counter("applied_objects_total", "Objects of plans by what became of them.", "result"))
	o.statuses, errs[3] = registered(registry,
		counter("status_writes_total", "Status writes that changed the owner."))
	o.requeues, errs[4] = registered(registry,
		counter("requeues_total", "Passes that end with another one to come, by cause.", "cause"))
	o.late, errs[5] = registered(registry,
		counter("cache_lag_total", "Passes deferred for a cache that did not show the last write, by how that ended.", "result"))
	o.errors, errs[6] = registered(registry, counter("errors_total",
		"Errors of passes, retried or not, by category and by the kind of the object that could not be written.", "category", "kind"))
	return o, errors.Join(errs[:]...)
}

// registered registers a collector or returns the one that another controller has registered.
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
func (o *observer) PhaseStart(ctx context.Context, phase reconcile.Phase) context.Context {
	if o.next != nil {
		return o.next.PhaseStart(ctx, phase)
	}
	return ctx
}

// PhaseDone implements reconcile.Observer.
func (o *observer) PhaseDone(ctx context.Context, phase reconcile.Phase, took time.Duration, err error) {
	found, known := o.series.Load(phase)
	if !known {
		found, _ = o.series.LoadOrStore(phase, o.phases.WithLabelValues(o.name, string(phase)))
	}
	found.(prometheus.Observer).Observe(took.Seconds()) //nolint:forcetypeassert // phases are keys of nothing else
	if err != nil {
		o.panics.WithLabelValues(o.name, string(phase)).Inc()
	}
	if o.next != nil {
		o.next.PhaseDone(ctx, phase, took, err)
	}
}

// The causes of requeues.
const (
	causeError   = "error"   // an error goes to the backoff
	causeHandled = "handled" // an error waits for a planned requeue or for what the API server asked for
	causePlanned = "planned" // nothing is wrong
)

// PassDone implements reconcile.Observer.
func (o *observer) PassDone(ctx context.Context, report reconcile.Report) {
	for i := range report.Applied.Objects {
		outcome := report.Applied.Objects[i].Outcome
		found, known := o.series.Load(outcome)
		if !known {
			found, _ = o.series.LoadOrStore(outcome, o.applies.WithLabelValues(o.name, string(outcome)))
		}
		found.(prometheus.Counter).Inc() //nolint:forcetypeassert // outcomes are keys of nothing else
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

// count counts the errors of a pass, also those whose retry a requeue has taken over.
func (o *observer) count(errs []error) {
	for _, err := range errs {
		kind := ""
		if object := (*apply.ObjectError)(nil); errors.As(err, &object) {
			kind = object.GVK.Kind
		}
		o.errors.WithLabelValues(o.name, health.Categorize(err).Category.String(), kind).Inc()
	}
}

// waited counts a pass that waits for the cache, and one that has waited for as long as it may.
func (o *observer) waited(expired bool) {
	if expired {
		o.late.WithLabelValues(o.name, "expired").Inc()
		return
	}
	o.late.WithLabelValues(o.name, "deferred").Inc()
}

// state collects, when it is scraped, what is counted rather than added up: owners by condition, paused ones, and tracked reads. It
// reads the cache without copying and keeps nothing.
type state struct {
	owners  *prometheus.Desc
	paused  *prometheus.Desc
	tracked *prometheus.Desc
	reads   *cachedReads
	pause   string // the annotation
}

var _ prometheus.Collector = (*state)(nil)

// stateMu guards the replacement of a collector against another controller of the same name that starts at the same time.
var stateMu sync.Mutex //nolint:gochecknoglobals // the registry is one of the process, too

// newState registers the collector in the place of one that an earlier controller of the same name has left.
func newState(registry prometheus.Registerer, name string, reads *cachedReads, pause string) error {
	labels := prometheus.Labels{"controller": name}
	s := &state{
		owners: prometheus.NewDesc(metricsNamespace+"_owners", "Owners by the status of their conditions.",
			[]string{"condition", "status"}, labels),
		paused: prometheus.NewDesc(metricsNamespace+"_paused_owners", "Owners that are paused by their annotation.", nil, labels),
		tracked: prometheus.NewDesc(metricsNamespace+"_tracked_reads", "Reads by name or selector that wake an owner.",
			nil, labels),
		reads: reads, pause: pause,
	}
	stateMu.Lock()
	defer stateMu.Unlock()
	err := registry.Register(s)
	if errors.As(err, &prometheus.AlreadyRegisteredError{}) {
		registry.Unregister(s)
		err = registry.Register(s)
	}
	return err
}

// Describe implements prometheus.Collector.
func (s *state) Describe(descriptions chan<- *prometheus.Desc) {
	descriptions <- s.owners
	descriptions <- s.paused
	descriptions <- s.tracked
}

// Collect implements prometheus.Collector.
func (s *state) Collect(metrics chan<- prometheus.Metric) {
	_, edges := s.reads.tracker.size()
	metrics <- prometheus.MustNewConstMetric(s.tracked, prometheus.GaugeValue, float64(edges))
	ctx, cancel := context.WithTimeout(context.Background(), collectTimeout) //nolint:forbidigo // a scrape has none
	defer cancel()
	list, err := s.reads.emptyList(s.reads.kinds[0])
	if err == nil {
		err = s.reads.cache.List(ctx, list, client.UnsafeDisableDeepCopy)
	}
	if err != nil {
		return // the cache has not started: there are no owners yet
	}
	counts, paused := map[[2]string]int{}, 0
	_ = meta.EachListItem(list, func(item runtime.Object) error {
		if owner, ok := item.(reconcile.Owner); ok {
			for _, condition := range owner.GetConditions() {
				counts[[2]string{condition.Type, string(condition.Status)}]++
			}
			if reconcile.IsPaused(owner, s.pause) {
				paused++
			}
		}
		return nil
	})
	metrics <- prometheus.MustNewConstMetric(s.paused, prometheus.GaugeValue, float64(paused))
	for labels, count := range counts {
		metrics <- prometheus.MustNewConstMetric(s.owners, prometheus.GaugeValue, float64(count), labels[0], labels[1])
	}
}
