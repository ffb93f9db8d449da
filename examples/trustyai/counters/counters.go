// Package counters serves metrics under the names that the product's dashboards use, in addition to those of the SDK.
package counters

import (
	"context"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/reconcilekit/reconcilekit/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/metrics"
)

// Quiet implements the methods of an observer that concern phases. They do nothing.
type Quiet struct{}

// PhaseStart returns the context unchanged.
func (Quiet) PhaseStart(ctx context.Context, _ reconcile.Phase) context.Context { return ctx }

// PhaseDone does nothing.
func (Quiet) PhaseDone(context.Context, reconcile.Phase, time.Duration, error) {}

// Served registers a metric with the registry of the SDK and returns it. It panics if the name is taken.
func Served[M prometheus.Collector](metric M) M {
	metrics.Registry.MustRegister(metric)
	return metric
}

// Counter returns a registered counter.
func Counter(name, help string, labels ...string) *prometheus.CounterVec {
	return Served(prometheus.NewCounterVec(prometheus.CounterOpts{Name: name, Help: help}, labels))
}
