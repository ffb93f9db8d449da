package verdict

import (
	"sync/atomic"

	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/internal/description"
	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/internal/difference"
	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/internal/finding"
	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/internal/story"
	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/internal/world"
)

// Judge checks the runs of a system, and records what is wrong.
type Judge struct {
	story.Known
	finding.Record
	// Drawn is what two runs of the same story draw at random.
	Drawn difference.Drawn

	ends   map[description.Step]world.State
	stored map[string]map[string]bool // what the runs without faults have stored, by object

	applies atomic.Bool // every pass sends applies that change nothing
}

// New is the judge of a system of which nothing is known yet.
func New(system description.Prepared) *Judge {
	return &Judge{
		Known: story.Known{System: system}, Drawn: difference.Drawn{}, ends: map[description.Step]world.State{}, stored: map[string]map[string]bool{},
	}
}

// End is how the run without faults ends that has the last step alone; nil when there is none.
func (j *Judge) End(last description.Step) world.State { return j.ends[last] }

// Expect decides what the end has to be of runs with a given last step.
func (j *Judge) Expect(last description.Step, end world.State) { j.ends[last] = end }
