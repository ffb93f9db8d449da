package description

import (
	"errors"

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
