// Package counters has what the metrics of the product have in common: they are served under the names that the product's
// dashboards ask for, besides those of the SDK.
package counters

import (
	"context"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/reconcilekit/reconcilekit/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/metrics"
)

// Quiet is a part of an observer of passes that is not told of phases.
type Quiet struct{}

// PhaseStart leaves the context as it is.
func (Quiet) PhaseStart(ctx context.Context, _ reconcile.Phase) context.Context { return ctx }

// PhaseDone does nothing.
func (Quiet) PhaseDone(context.Context, reconcile.Phase, time.Duration, error) {}

// Served returns a metric that is served with those of the SDK. It panics where the name is taken.
func Served[M prometheus.Collector](metric M) M {
	metrics.Registry.MustRegister(metric)
	return metric
}

// Counter is a counter that is served.
func Counter(name, help string, labels ...string) *prometheus.CounterVec {
	return Served(prometheus.NewCounterVec(prometheus.CounterOpts{Name: name, Help: help}, labels))
}
