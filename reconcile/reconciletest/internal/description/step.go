package description

import (
	"slices"

	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Step is an external change of the owners, or of the inputs of a singleton.
type Step string

const (
	StepA      Step = "A"      // created with their spec, or changed back to it
	StepB      Step = "B"      // created with, or changed to, the result of System.Change
	StepLess   Step = "less"   // as in A, but without the first owner: never created, or deleted
	StepDelete Step = "delete" // deleted
	StepOff    Step = "off"    // as in A, with the operator disabled: see Singleton
)

// Subjects returns the objects that the steps change.
func (s Prepared) Subjects() []client.Object {
	if s.Singleton != nil {
		return s.Singleton.Inputs
	}
	return s.Owners
}

// Sequences returns the baselines without faults. The first one with a last step defines the end state of that step.
func (s Prepared) Sequences() [][]Step {
	sequences := [][]Step{{StepA}}
	if s.Change != nil {
		sequences = append(sequences, []Step{StepB}, []Step{StepA, StepB}, []Step{StepA, StepB, StepA}, []Step{StepA, StepB, StepA, StepB})
	}
	if len(s.Subjects()) > 1 {
		sequences = append(sequences, []Step{StepLess}, []Step{StepA, StepLess}, []Step{StepA, StepLess, StepA})
	}
	if s.Singleton == nil {
		return append(append(sequences, s.ending(StepDelete)...), []Step{StepA, StepDelete, StepA})
	}
	if len(s.Singleton.Inputs) > 0 {
		sequences = append(append(sequences, []Step{StepDelete}), s.ending(StepDelete)...)
		sequences = append(sequences, []Step{StepA, StepDelete, StepA})
	}
	if s.Singleton.Off != nil {
		sequences = append(append(sequences, []Step{StepOff}), s.ending(StepOff)...)
		sequences = append(sequences, []Step{StepA, StepOff, StepA})
	}
	return sequences
}

// ending returns the specs of two steps that end with the last one.
func (s Prepared) ending(last Step) [][]Step {
	sequences := [][]Step{{StepA, last}}
	if s.Change != nil {
		sequences = append(sequences, []Step{StepB, last})
	}
	if s.Singleton != nil && len(s.Singleton.Inputs) > 1 {
		sequences = append(sequences, []Step{StepLess, last})
	}
	return sequences
}

// After returns the steps that may follow while no instance runs.
func (s Prepared) After(last Step) []Step {
	var next []Step
	if s.Change != nil && last == StepA {
		next = append(next, StepB)
	}
	if s.Change != nil && last == StepB || last == StepOff {
		next = append(next, StepA)
	}
	if len(s.Subjects()) > 0 && slices.Contains([]Step{StepA, StepB, StepLess}, last) {
		next = append(next, StepDelete)
	}
	if s.Singleton != nil && s.Singleton.Off != nil && slices.Contains([]Step{StepA, StepB}, last) {
		next = append(next, StepOff)
	}
	return next
}
