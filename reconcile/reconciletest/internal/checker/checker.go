package checker

import (
	"sync/atomic"

	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/internal/baseline"
	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/internal/cluster"
	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/internal/description"
	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/internal/difference"
	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/internal/finding"
)

// Checker checks the runs of a system and records the findings.
type Checker struct {
	baseline.Known
	finding.Record
	// Random are the random values of two runs of the same steps.
	Random difference.Random

	ends   map[description.Step]cluster.State
	stored map[string]map[string]bool // contents stored by the runs without faults, by object

	applies atomic.Bool // every pass sends applies without a change
}

// New returns a checker without any information about the system.
func New(system description.Prepared) *Checker {
	return &Checker{
		Known: baseline.Known{System: system}, Random: difference.Random{}, ends: map[description.Step]cluster.State{}, stored: map[string]map[string]bool{},
	}
}

// End returns the end state of the run without faults that has only the last step; nil if there is none.
func (j *Checker) End(last description.Step) cluster.State { return j.ends[last] }

// Expect sets the end state of runs with a last step.
func (j *Checker) Expect(last description.Step, end cluster.State) { j.ends[last] = end }
