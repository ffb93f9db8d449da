package external

import (
	"context"
	"errors"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"

	"github.com/reconcilekit/reconcilekit/health"
)

// Interceptor wraps every call of a system. It may fail without calling next (a lost request), or after it (a lost response). A test
// manager uses it to inject faults, see [Config.Intercept].
type Interceptor func(ctx context.Context, call Call, next func(context.Context) error) error

// limitedError reports that a call exceeds the rate of its system and has to wait.
type limitedError struct{ after time.Duration }

func (*limitedError) Error() string { return "the rate of calls to the system is exceeded" }

// call sends one call if the limits of its system allow it, and records the outcome. If err wraps ErrNotFound, the resource does not
// exist; every other error is an *Error or a *limitedError.
func (e *Engine) call(ctx context.Context, k *kind, owner types.NamespacedName, call Call, send func(context.Context) error) error {
	call.Kind, call.System = k.name, k.options.System(call.Key)
	limits, now := e.limits[k.name], e.config.Clock.Now()
	if err := limits.allow(call.System, owner, now); err != nil {
		return &Error{Call: call, Category: health.Infrastructure, Reason: err.last.Reason, Err: err}
	}
	if after := limits.wait(call.System, now); after > 0 {
		limits.unused(call.System)
		return &limitedError{after}
	}
	limited, cancel := context.WithTimeout(ctx, k.options.Timeout)
	err := e.intercepted(limited, call, send)
	if err != nil && !errors.Is(err, ErrNotFound) && limited.Err() != nil && ctx.Err() == nil {
		err = errors.Join(err, context.DeadlineExceeded) // regardless of the system's error
	}
	cancel()
	if e.config.Called != nil {
		e.config.Called(call, e.config.Clock.Now().Sub(now), err)
	}
	if err == nil || errors.Is(err, ErrNotFound) {
		e.back(limits, call.System, owner)
		return err
	}
	if apierrors.IsNotFound(err) {
		err = errors.New(err.Error()) // a missing dependency: callers must not treat it as the resource itself
	}
	failed := k.failed(call, err)
	switch {
	case ctx.Err() != nil: // the reconciliation has ended: the result does not count
		limits.unused(call.System)
	case failed.Category == health.Infrastructure:
		if after := limits.failed(call.System, owner, failed, e.config.Clock.Now()); after > 0 {
			e.wake(owner, after) // to check whether the system has recovered
		}
	default: // the system responded
		e.back(limits, call.System, owner)
	}
	return failed
}

// back closes the circuit of a system that responded, and enqueues the other owners that wait for it.
func (e *Engine) back(l *limits, system string, asked types.NamespacedName) {
	for _, waiting := range l.succeeded(system) {
		if waiting != asked {
			e.wake(waiting, 0)
		}
	}
}

func (e *Engine) intercepted(ctx context.Context, call Call, send func(context.Context) error) error {
	if e.config.Intercept == nil {
		return send(ctx)
	}
	return e.config.Intercept(ctx, call, send)
}

// unused releases the probe of an open circuit.
func (l *limits) unused(system string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if c := l.circuits[system]; c != nil {
		c.probing = false
	}
}
