package search

import (
	"errors"
	"sync"

	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/internal/faults"
	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/internal/run"
	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/internal/transport"
	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/internal/verdict"
)

// explorer executes an exploration.
type explorer struct {
	*verdict.Judge
	only   string
	limit  int // of cases, 0 for none
	seed   uint64
	played []string // the runs without faults
	draw   faults.Draw
	alone  error // why there is no second owner, nil if there may be one

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

// restlessness returns the error about endless passes.
func restlessness(err error) (*run.RestlessError, bool) {
	var restless *run.RestlessError
	return restless, errors.As(err, &restless)
}
