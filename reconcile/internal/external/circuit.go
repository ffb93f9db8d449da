package external

import (
	"sync"
	"time"

	"golang.org/x/time/rate"
	"k8s.io/apimachinery/pkg/types"
)

// maxOpen is the maximum time for which a circuit stays open.
const maxOpen = time.Minute

// limits holds the rate and the circuit of each system of one kind. A healthy system has no circuit, so it costs only its rate. The
// caller passes the time, which makes tests deterministic.
type limits struct {
	options Options

	mu       sync.Mutex
	rates    map[string]*rate.Limiter
	circuits map[string]*circuit
}

// circuit counts the failures of one system.
type circuit struct {
	failures int
	last     *Error
	open     time.Duration // current duration of the open state; zero is closed
	until    time.Time
	probing  bool // one call is in flight through an open circuit

	waiting map[types.NamespacedName]bool // owners whose call failed or was not sent
}

func newLimits(options Options) *limits {
	return &limits{options: options, rates: map[string]*rate.Limiter{}, circuits: map[string]*circuit{}}
}

// maxRates is the maximum number of rates; unused ones are dropped beyond it.
const maxRates = 1000

// wait returns the delay until a call may be sent; zero is now.
func (l *limits) wait(system string, now time.Time) time.Duration {
	if l.options.Rate <= 0 {
		return 0
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	limiter := l.rates[system]
	if limiter == nil {
		if len(l.rates) >= maxRates {
			for name, idle := range l.rates {
				if idle.TokensAt(now) >= float64(l.options.Burst) {
					delete(l.rates, name)
				}
			}
		}
		limiter = rate.NewLimiter(rate.Limit(l.options.Rate), l.options.Burst)
		l.rates[system] = limiter
	}
	reservation := limiter.ReserveN(now, 1)
	delay := reservation.DelayFrom(now)
	if delay > 0 {
		reservation.CancelAt(now) // the owner is requeued
	}
	return delay
}

// allow returns the reason why a call must not be sent now, nil if it may.
func (l *limits) allow(system string, owner types.NamespacedName, now time.Time) *openError {
	l.mu.Lock()
	defer l.mu.Unlock()
	c := l.circuits[system]
	if c == nil || c.open == 0 {
		return nil
	}
	if now.Before(c.until) || c.probing {
		c.waiting[owner] = true
		return &openError{last: c.last, until: c.until}
	}
	c.probing = true
	return nil
}

// succeeded closes the circuit and returns the waiting owners.
func (l *limits) succeeded(system string) []types.NamespacedName {
	l.mu.Lock()
	defer l.mu.Unlock()
	c := l.circuits[system]
	if c == nil {
		return nil
	}
	delete(l.circuits, system)
	out := make([]types.NamespacedName, 0, len(c.waiting))
	for owner := range c.waiting {
		out = append(out, owner)
	}
	return out
}

// failed counts a failure. It returns the delay until the next probe, zero while the circuit is closed.
func (l *limits) failed(system string, owner types.NamespacedName, err *Error, now time.Time) time.Duration {
	if l.options.Failures < 0 {
		return 0
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	c := l.circuits[system]
	if c == nil {
		c = &circuit{waiting: map[types.NamespacedName]bool{}}
		l.circuits[system] = c
	}
	c.failures++
	c.last, c.probing = err, false
	c.waiting[owner] = true
	if c.failures < l.options.Failures {
		return 0
	}
	if now.Before(c.until) {
		return 0 // a call that was in flight when the circuit opened
	}
	c.open = min(max(2*c.open, l.options.Open), maxOpen)
	c.until = now.Add(c.open)
	return c.open
}

// forget drops a deleted owner.
func (l *limits) forget(owner types.NamespacedName) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, c := range l.circuits {
		delete(c.waiting, owner)
	}
}

// opened returns the number of systems with an open circuit.
func (l *limits) opened() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	open := 0
	for _, c := range l.circuits {
		if c.open > 0 {
			open++
		}
	}
	return open
}
