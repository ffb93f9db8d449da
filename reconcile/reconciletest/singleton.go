package reconciletest

import (
	"errors"
	"slices"

	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/manager"
)

// Singleton describes what makes the difference for a controller without an owner object, such as one that is made with
// controller.NewSingleton: the objects that it looks at, and whether the operator is to run it. In a [System] it takes the
// place of Owners.
//
// The inputs play the part that owners have: they are created, changed by System.Change and changed back, and of several the
// first also goes and comes back. What is left when all of them are deleted is not nothing, but what the controller makes in a
// world that never had them; the runs are held to that. With Off the operator is also switched off and on again: switched off
// after it has worked, it must leave behind what it leaves in a world in which it was never on, save System.Outlives.
type Singleton struct {
	// Inputs are objects of others that the controller reads, created one after the other once Given is there; namespaces
	// are as in System.Owners. A singleton that only the environment configures has none.
	Inputs []client.Object
	// Off is System.Setup of an operator in which the singleton is switched off. Like Setup it must add a controller: one that
	// is not set up any more deletes nothing. Nil leaves the cases about it out.
	Off func(mgr manager.Manager) error
}

var errOwnersToo = errors.New("system: Owners and Singleton are both set: want the owners that the controllers reconcile, " +
	"or the inputs of a controller that has none")

// subjects are the objects that the steps are about.
func (s System) subjects() []client.Object {
	if s.Singleton != nil {
		return s.Singleton.Inputs
	}
	return s.Owners
}

// setup is that of the operator as the current step wants it.
func (w *world) setup() func(mgr manager.Manager) error {
	if w.off {
		return w.system.Singleton.Off
	}
	return w.system.Setup
}

// plots are the stories without faults. The first with a given last step decides what the end of it has to be.
func (s System) plots() [][]step {
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
func (s System) ending(last step) [][]step {
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
func (s System) after(last step) []step {
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
