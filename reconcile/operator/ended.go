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

// ended is the error with which a running operator ends. The log has it already, as its last line.
type ended struct{ error }

func (e *ended) Unwrap() error { return e.error }

// leaseLost is in the error of a manager that has lost its lease: controller-runtime has no type for it.
const leaseLost = "leader election lost"

// leaseSettings are the times of the leader election.
type leaseSettings struct {
	duration, deadline, retry time.Duration
}

// standardLease are the defaults of controller-runtime.
func standardLease() leaseSettings {
	const duration, deadline, retry = 15 * time.Second, 10 * time.Second, 2 * time.Second
	return leaseSettings{duration, deadline, retry}
}

// check refuses times with which no leader election works.
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

// leaseRequests remembers how the last request for the lease has failed.
type leaseRequests struct {
	mu     sync.Mutex
	failed error // of the last request; nil when it has succeeded
}

// observe returns a configuration whose requests for leases are observed.
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

// why is why the lease is lost.
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
