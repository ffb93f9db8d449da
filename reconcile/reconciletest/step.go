package reconciletest

import (
	"slices"

	"sigs.k8s.io/controller-runtime/pkg/client"
)

// step is what happens to the owners, or the inputs of a singleton, from outside.
type step string

const (
	stepA      step = "A"      // created with their spec, or changed back to it
	stepB      step = "B"      // created with, or changed to, what System.Change makes of it
	stepLess   step = "less"   // as in A, but without the first owner: never created, or deleted
	stepDelete step = "delete" // deleted
	stepOff    step = "off"    // as in A, with the operator switched off: see Singleton
)

// subjects are the objects that the steps are about.
func (s prepared) subjects() []client.Object {
	if s.Singleton != nil {
		return s.Singleton.Inputs
	}
	return s.Owners
}

// plots are the stories without faults. The first with a given last step decides what the end of it has to be.
func (s prepared) plots() [][]step {
	plots := [][]step{{stepA}}
	if s.Change != nil {
		plots = append(plots, []step{stepB}, []step{stepA, stepB}, []step{stepA, stepB, stepA}, []step{stepA, stepB, stepA, stepB})
	}
	if len(s.subjects()) > 1 {
		plots = append(plots, []step{stepLess}, []step{stepA, stepLess}, []step{stepA, stepLess, stepA})
	}
	if s.Singleton == nil {
		return append(append(plots, s.ending(stepDelete)...), []step{stepA, stepDelete, stepA})
	}
	if len(s.Singleton.Inputs) > 0 {
		plots = append(append(plots, []step{stepDelete}), s.ending(stepDelete)...)
		plots = append(plots, []step{stepA, stepDelete, stepA})
	}
	if s.Singleton.Off != nil {
		plots = append(append(plots, []step{stepOff}), s.ending(stepOff)...)
		plots = append(plots, []step{stepA, stepOff, stepA})
	}
	return plots
}

// ending are the plots of two steps that end with the last one.
func (s prepared) ending(last step) [][]step {
	plots := [][]step{{stepA, last}}
	if s.Change != nil {
		plots = append(plots, []step{stepB, last})
	}
	if s.Singleton != nil && len(s.Singleton.Inputs) > 1 {
		plots = append(plots, []step{stepLess, last})
	}
	return plots
}

// after are the steps that may follow one while no instance runs.
func (s prepared) after(last step) []step {
	var next []step
	if s.Change != nil && last == stepA {
		next = append(next, stepB)
	}
	if s.Change != nil && last == stepB || last == stepOff {
		next = append(next, stepA)
	}
	if len(s.subjects()) > 0 && slices.Contains([]step{stepA, stepB, stepLess}, last) {
		next = append(next, stepDelete)
	}
	if s.Singleton != nil && s.Singleton.Off != nil && slices.Contains([]step{stepA, stepB}, last) {
		next = append(next, stepOff)
	}
	return next
}
