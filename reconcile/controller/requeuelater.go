package controller

import (
	"context"
	"errors"
	"sync"

	"k8s.io/client-go/util/workqueue"
	ctrl "sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"
)

// later keeps the requeue of a reconciliation that ends with a terminal error, which controller-runtime drops. The error is
// not retried with backoff, but its cause may be resolved where nothing is watched. It is a source, because a source
// receives the queue.
type later struct {
	mu sync.Mutex
	q  workqueue.TypedRateLimitingInterface[ctrl.Request]
}

var _ source.Source = (*later)(nil)

// Start implements source.Source.
func (l *later) Start(_ context.Context, q workqueue.TypedRateLimitingInterface[ctrl.Request]) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.q = q
	return nil
}

// String returns the name of the source for the log.
func (*later) String() string { return "requeues of terminal errors" }

// Keep returns a function that adds the requeue of a terminal error to the queue. It returns other results unchanged.
func (l *later) Keep(request ctrl.Request) func(ctrl.Result, error) (ctrl.Result, error) {
	return func(result ctrl.Result, err error) (ctrl.Result, error) {
		if err == nil || result.RequeueAfter == 0 || !errors.Is(err, ctrl.TerminalError(nil)) {
			return result, err
		}
		l.mu.Lock()
		defer l.mu.Unlock()
		if l.q != nil {
			l.q.AddAfter(request, result.RequeueAfter)
		}
		return ctrl.Result{}, err
	}
}
