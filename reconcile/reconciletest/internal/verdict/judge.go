package verdict

import (
	"sync/atomic"

	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/internal/description"
	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/internal/difference"
	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/internal/finding"
	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/internal/story"
	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/internal/world"
)

// Judge checks the runs of a system and records the findings.
type Judge struct {
	story.Known
	finding.Record
	// Random are the random values of two runs of the same story.
	Random difference.Random

	ends   map[description.Step]world.State
	stored map[string]map[string]bool // contents stored by the runs without faults, by object

	applies atomic.Bool // every pass sends applies without a change
}

// New returns a judge without any information about the system.
func New(system description.Prepared) *Judge {
	return &Judge{
		Known: story.Known{System: system}, Random: difference.Random{}, ends: map[description.Step]world.State{}, stored: map[string]map[string]bool{},
	}
}

// End returns the end state of the run without faults that has only the last step; nil if there is none.
func (j *Judge) End(last description.Step) world.State { return j.ends[last] }

// Expect sets the end state of runs with a last step.
func (j *Judge) Expect(last description.Step, end world.State) { j.ends[last] = end }
