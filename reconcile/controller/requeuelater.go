package controller

import (
	"context"
	"errors"
	"sync"

	"k8s.io/client-go/util/workqueue"
	ctrl "sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"
)

// later keeps the requeue of a pass that ends with a terminal error, which controller-runtime drops: the error is not retried, but the
// world may have changed where nothing is watched. It is a source of events, because those get the queue.
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

// String names the source in the log.
func (*later) String() string { return "requeues of terminal errors" }

// Keep returns a function that takes the outcome of a pass over.
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
