package story_test

import (
	"fmt"

	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/internal/description"
	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/internal/run"
	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/internal/story"
)

func Example() {
	steps := []description.Step{description.StepA, description.StepB}
	told := &story.Story{Name: story.NameOf(steps), Steps: steps}
	slow := told.Varied("others are slow", run.Variation{Slow: true})
	fmt.Printf("%q goes wrong in step %s and ends like %s\n", slow.Name, slow.Plot.Steps[slow.Plot.At], slow.Final)
	// Output:
	// "A-B: others are slow" goes wrong in step B and ends like B
}
