package controller

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"slices"
	"sync"

	ctrl "sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/reconcilekit/reconcilekit/health"
	"github.com/reconcilekit/reconcilekit/reconcile"
)

// readiness is the check of a controller behind the manager's /readyz: not ready while the last pass of some owner could
// not reach the API server or could not store what it found. It asks nobody, so that a probe costs no request.
type readiness struct {
	reconcile.Observer

	mu      sync.Mutex
	failing map[ctrl.Request]error
}

var _ reconcile.Observer = (*readiness)(nil)

// check implements healthz.Checker.
func (r *readiness) check(*http.Request) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.failing) == 0 {
		return nil
	}
	requests := make([]ctrl.Request, 0, len(r.failing))
	for request := range r.failing {
		requests = append(requests, request)
	}
	first := slices.MinFunc(requests, func(a, b ctrl.Request) int { return cmp.Compare(a.String(), b.String()) })
	return fmt.Errorf("the last pass of %d owners failed, of %s with: %w", len(requests), first, r.failing[first])
}

// PassDone implements reconcile.Observer.
func (r *readiness) PassDone(ctx context.Context, report reconcile.Report) {
	r.note(report.Request, unstored(report.Outcome.Retry))
	r.Observer.PassDone(ctx, report)
}

func (r *readiness) note(request ctrl.Request, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if err == nil {
		delete(r.failing, request)
		return
	}
	if r.failing == nil {
		r.failing = map[ctrl.Request]error{}
	}
	r.failing[request] = err
}

// unstored returns the first error about the API server itself: out of reach, or a write that lost to another one.
func unstored(errs []error) error {
	for _, err := range errs {
		switch health.Categorize(err).Category {
		case health.Infrastructure, health.Conflict:
			return err
		case health.InvalidSpec, health.MissingUpstreamDependency, health.MissingDownstreamDependency, health.Auth,
			health.ResourceExhaustion, health.Unknown:
		}
	}
	return nil
}
