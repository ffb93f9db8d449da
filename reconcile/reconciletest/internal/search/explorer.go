package search

import (
	"errors"
	"sync"

	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/internal/checker"
	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/internal/faults"
	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/internal/run"
	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/internal/transport"
)

// explorer executes an exploration.
type explorer struct {
	*checker.Checker
	only     string
	limit    int // of cases, 0 for none
	seed     uint64
	executed []string // the runs without faults
	draw     faults.Draw
	alone    error // why there is no second owner, nil if there may be one

	mu     sync.Mutex
	out    *Exploration
	missed int // faults whose request did not occur
	second int // of these, the second fault of a pair
}

// miss counts the faults of a run that did not happen.
func (e *explorer) miss(faults []*transport.Injection) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for n, fault := range faults {
		switch {
		case fault.Happened():
		case n == 0:
			e.missed++
		default:
			e.second++
		}
	}
}

// unsteady returns the error about endless passes.
func unsteady(err error) (*run.SteadyStateError, bool) {
	var unsteadyErr *run.SteadyStateError
	return unsteadyErr, errors.As(err, &unsteadyErr)
}
