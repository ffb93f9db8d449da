package reconcile

import (
	"errors"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	ctrl "sigs.k8s.io/controller-runtime/pkg/reconcile"
)

// Outcome is all that a pass has to say about what comes next. Parts of a pass join theirs into one; joining is
// commutative and loses nothing. The zero value is a pass with nothing left to do.
type Outcome struct {
	// Retry are errors that a later try may cure: they reach the backoff.
	Retry []error
	// Terminal are errors that only a change of the owner or of its surroundings cures: they are not retried hot.
	Terminal []error
	// RequeueAfter is the earliest planned requeue; zero is none. What the API server asked for (Retry-After) is in Retry.
	RequeueAfter time.Duration
}

// Requeue asks for a pass after d; the earliest request stands, and d <= 0 asks for nothing.
func (o *Outcome) Requeue(d time.Duration) {
	if d > 0 && (o.RequeueAfter == 0 || d < o.RequeueAfter) {
		o.RequeueAfter = d
	}
}

// Fail adds an error that a later try may cure; nil adds none.
func (o *Outcome) Fail(err error) {
	if err != nil {
		o.Retry = append(o.Retry, err)
	}
}

// Join adds all of another outcome.
func (o *Outcome) Join(other Outcome) {
	o.Retry = append(o.Retry, other.Retry...)
	o.Terminal = append(o.Terminal, other.Terminal...)
	o.Requeue(other.RequeueAfter)
}

// Err joins the errors to retry; it is nil when there are none.
func (o *Outcome) Err() error { return errors.Join(o.Retry...) }

// minPlanned is how soon at the earliest a planned requeue ends the backoff of an error: a pass that asks for another one in a
// moment must not ask a system that fails as often.
const minPlanned = time.Second

// Result decides what controller-runtime is told, given the delay that its backoff would choose for an error now:
//
//   - an error whose delay the API server asked for waits for that long, whatever is planned: the server said that it is not to be
//     asked earlier;
//   - a requeue that is planned earlier than the backoff stands, but ends no backoff below a second;
//   - otherwise the error goes to the backoff.
//
// In the first two cases the error comes back as handled: the caller then logs and counts it, because controller-runtime
// ignores a requeue beside an error.
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

// retryAfter returns the longest delay that the API server asked for in an error of the tree (Retry-After of a 429 or
// 503, RFC 9110 section 10.2.3), and whether it asked at all.
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
