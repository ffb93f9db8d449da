package reconcile

import (
	"errors"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	ctrl "sigs.k8s.io/controller-runtime/pkg/reconcile"
)

// Outcome collects the errors and requeues of a reconciliation. Join is commutative and keeps everything. The zero value
// means that nothing is left to do.
type Outcome struct {
	// Retry are the errors that are retried with backoff.
	Retry []error
	// Terminal are the errors that only a change of the owner or of an object that it depends on resolves. They are not
	// retried with backoff.
	Terminal []error
	// RequeueAfter is the delay of the earliest planned requeue; zero means none. A Retry-After of the API server is in
	// Retry.
	RequeueAfter time.Duration
}

// Requeue requests a reconciliation after d. The earliest request is used; d <= 0 is ignored.
func (o *Outcome) Requeue(d time.Duration) {
	if d > 0 && (o.RequeueAfter == 0 || d < o.RequeueAfter) {
		o.RequeueAfter = d
	}
}

// Fail adds an error to Retry; nil is ignored.
func (o *Outcome) Fail(err error) {
	if err != nil {
		o.Retry = append(o.Retry, err)
	}
}

// Join adds the errors and the requeue of another outcome.
func (o *Outcome) Join(other Outcome) {
	o.Retry = append(o.Retry, other.Retry...)
	o.Terminal = append(o.Terminal, other.Terminal...)
	o.Requeue(other.RequeueAfter)
}

// Err joins the errors in Retry. It is nil when there are none.
func (o *Outcome) Err() error { return errors.Join(o.Retry...) }

// minPlanned is the shortest planned requeue that replaces the backoff of an error. It keeps a reconciliation with a short
// requeue from retrying a failing system at that rate.
const minPlanned = time.Second

// Result returns the result for controller-runtime, given the delay that its backoff would choose for an error now:
//
//   - an error with a Retry-After of the API server waits that long, even when a requeue is planned earlier;
//   - a requeue that is planned earlier than the backoff replaces it, with a delay of at least a second or the backoff,
//     whichever is shorter;
//   - otherwise the error is retried with backoff.
//
// In the first two cases the error is returned as handled. The caller then logs and counts it, because controller-runtime
// ignores a requeue with an error.
func (o *Outcome) Result(backoff time.Duration) (result ctrl.Result, err, handled error) {
	err = o.Err()
	if err == nil {
		return ctrl.Result{RequeueAfter: o.RequeueAfter}, nil, nil
	}
	if asked, ok := retryAfter(err); ok {
		return ctrl.Result{RequeueAfter: asked}, nil, err
	}
	planned := max(o.RequeueAfter, min(backoff, minPlanned))
	if o.RequeueAfter > 0 && planned <= backoff {
		return ctrl.Result{RequeueAfter: planned}, nil, err
	}
	return ctrl.Result{}, err, nil
}

// retryAfter returns the longest Retry-After in the tree of errors (of a 429 or 503, RFC 9110 section 10.2.3) and whether
// there is one.
func retryAfter(err error) (delay time.Duration, asked bool) {
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		for _, part := range joined.Unwrap() {
			if d, ok := retryAfter(part); ok {
				delay, asked = max(delay, d), true
			}
		}
		return delay, asked
	}
	if seconds, ok := apierrors.SuggestsClientDelay(err); ok && seconds > 0 {
		return time.Duration(seconds) * time.Second, true
	}
	if next := errors.Unwrap(err); next != nil {
		return retryAfter(next)
	}
	return 0, false
}
