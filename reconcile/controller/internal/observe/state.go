package observe

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/reconcilekit/reconcilekit/conditions"
	"github.com/reconcilekit/reconcilekit/reconcile/controller/internal/tracked"
	"github.com/reconcilekit/reconcilekit/reconcile/internal/pipeline"
)

// state collects gauges when it is scraped: owners by condition and by age, paused owners, caches and tracked reads. It reads the cache
// without copying and keeps nothing.
type state struct {
	owners, oldest, ages, paused, tracked, synced, unlisted, circuits *prometheus.Desc

	reads  *tracked.Reads
	caches *Caches
	pause  string // the annotation
	clock  clock.PassiveClock
}

var _ prometheus.Collector = (*state)(nil)

// stateMu guards the replacement of a collector by another controller of that name that starts concurrently.
var stateMu sync.Mutex //nolint:gochecknoglobals // the registry is global, too

// RegisterState registers the collector. It replaces that of an earlier controller of that name.
func RegisterState(
	registry prometheus.Registerer, name string, reads *tracked.Reads, synced *Caches, pause string, c clock.PassiveClock,
) error {
	s := &state{
		owners: metricOwners.describe(name), oldest: metricOldest.describe(name), ages: metricAges.describe(name),
		paused: metricPaused.describe(name), tracked: metricTracked.describe(name), synced: metricSynced.describe(name), unlisted: metricUnlisted.describe(name),
		circuits: metricCircuits.describe(name),
		reads:    reads, caches: synced, pause: pause, clock: c,
	}
	return replace(registry, s)
}

// replace registers a collector in place of one that has the same descriptions.
func replace(registry prometheus.Registerer, c prometheus.Collector) error {
	stateMu.Lock()
	defer stateMu.Unlock()
	err := registry.Register(c)
	if errors.As(err, &prometheus.AlreadyRegisteredError{}) {
		registry.Unregister(c)
		err = registry.Register(c)
	}
	return err
}

// Describe implements prometheus.Collector.
func (s *state) Describe(descriptions chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{s.owners, s.oldest, s.ages, s.paused, s.tracked, s.synced, s.unlisted, s.circuits} {
		descriptions <- d
	}
}

// Collect implements prometheus.Collector.
func (s *state) Collect(metrics chan<- prometheus.Metric) {
	gauge := func(d *prometheus.Desc, value float64, labels ...string) {
		metrics <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, value, labels...)
	}
	_, edges := s.reads.Tracker.Size()
	gauge(s.tracked, float64(edges))
	for kind, open := range s.reads.Outside.Open() {
		gauge(s.circuits, float64(open), kind)
	}
	kinds := s.caches.byKind()
	for kind, synced := range kinds {
		gauge(s.synced, synced, kind)
	}
	for kind, count := range s.caches.Failed.byKind() {
		metrics <- prometheus.MustNewConstMetric(s.unlisted, prometheus.CounterValue, float64(count), kind)
	}
	if synced, watched := kinds[s.reads.Kinds[0].Kind]; watched && synced == 0 {
		return // a scrape does not wait for the list of owners
	}
	ctx, cancel := context.WithTimeout(context.Background(), collectTimeout) //nolint:forbidigo // a scrape has no context
	defer cancel()
	list, err := s.reads.EmptyList(s.reads.Kinds[0])
	if err == nil {
		err = s.reads.Cache.List(ctx, list, client.UnsafeDisableDeepCopy)
	}
	if err != nil {
		return // the cache has not started: there are no owners yet
	}
	c := ownerCount{now: s.clock.Now(), counts: map[[2]string]int{}, ages: map[[2]string]time.Duration{}}
	_ = meta.EachListItem(list, func(item runtime.Object) error {
		if owner, ok := item.(client.Object); ok && s.reads.Kinds[0].Reconciles(owner) {
			c.add(owner, s.reads.Conditions.Get(owner), s.pause)
		}
		return nil
	})
	gauge(s.paused, float64(c.paused))
	if !s.reads.Unsummarized {
		gauge(s.oldest, c.oldest.Seconds())
	}
	for labels, count := range c.counts {
		gauge(s.owners, float64(count), labels[0], labels[1])
		gauge(s.ages, c.ages[labels].Seconds(), labels[0], labels[1])
	}
}

// ownerCount counts owners.
type ownerCount struct {
	now    time.Time
	counts map[[2]string]int           // by type and status of a condition
	ages   map[[2]string]time.Duration // the longest
	oldest time.Duration               // not ready
	paused int
}

func (c *ownerCount) add(owner client.Object, list []metav1.Condition, pause string) {
	if pipeline.IsPaused(owner, pause) {
		c.paused++
	}
	since := owner.GetCreationTimestamp().Time // if no condition has the time since when it is not ready
	ready := false
	for _, condition := range list {
		labels := [2]string{condition.Type, string(condition.Status)}
		c.counts[labels]++
		c.ages[labels] = max(c.ages[labels], c.now.Sub(condition.LastTransitionTime.Time))
		if condition.Type == conditions.Ready {
			ready, since = condition.Status == metav1.ConditionTrue, condition.LastTransitionTime.Time
		}
	}
	if !ready {
		c.oldest = max(c.oldest, c.now.Sub(since))
	}
}
