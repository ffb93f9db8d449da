package operator

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"time"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/leaderelection"
)

// ended is the error of a running operator. It is already logged, in the last line.
type ended struct{ error }

func (e *ended) Unwrap() error { return e.error }

// leaseLost is in the error of a manager that has lost its lease. controller-runtime has no type for the error.
const leaseLost = "leader election lost"

// leaseSettings are the durations of the leader election.
type leaseSettings struct {
	duration, deadline, retry time.Duration
}

// standardLease returns the defaults of controller-runtime.
func standardLease() leaseSettings {
	const duration, deadline, retry = 15 * time.Second, 10 * time.Second, 2 * time.Second
	return leaseSettings{duration, deadline, retry}
}

// check returns an error for durations with which leader election cannot work.
func (s leaseSettings) check() error {
	switch {
	case s.retry <= 0:
		return fmt.Errorf("flag -%s %s: want more than 0", flagRetryPeriod, s.retry)
	case s.deadline <= time.Duration(leaderelection.JitterFactor*float64(s.retry)):
		return fmt.Errorf("flag -%s %s: want more than %v times -%s %s", flagRenewDeadline, s.deadline, leaderelection.JitterFactor, flagRetryPeriod, s.retry)
	case s.duration <= s.deadline:
		return fmt.Errorf("flag -%s %s: want more than -%s %s", flagLeaseDuration, s.duration, flagRenewDeadline, s.deadline)
	case s.duration < time.Second:
		return fmt.Errorf("flag -%s %s: want at least 1s, as a lease counts seconds", flagLeaseDuration, s.duration)
	}
	return nil
}

// leaseRequests records the error of the last request for the lease.
type leaseRequests struct {
	mu     sync.Mutex
	failed error // of the last request, nil if it succeeded
}

// observe returns a configuration that records the results of requests for leases.
func (l *leaseRequests) observe(config *rest.Config) *rest.Config {
	config = rest.CopyConfig(config)
	config.Wrap(func(next http.RoundTripper) http.RoundTripper {
		return roundTripper(func(r *http.Request) (*http.Response, error) {
			response, err := next.RoundTrip(r)
			if strings.Contains(r.URL.Path, "/leases/") {
				l.note(response, err)
			}
			return response, err
		})
	})
	return config
}

type roundTripper func(*http.Request) (*http.Response, error)

// RoundTrip implements http.RoundTripper.
func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

func (l *leaseRequests) note(response *http.Response, err error) {
	if err == nil && response.StatusCode >= http.StatusBadRequest && response.StatusCode != http.StatusConflict {
		err = fmt.Errorf("the API server answers %s", response.Status)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.failed = err
}

// why returns the reason why the lease is lost.
func (l *leaseRequests) why(s leaseSettings) error {
	if l == nil {
		return errors.New("another process has the lease")
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.failed == nil {
		return errors.New("another process has the lease")
	}
	return fmt.Errorf("the lease was not renewed within %s (flag -%s): %w", s.deadline, flagRenewDeadline, l.failed)
}
