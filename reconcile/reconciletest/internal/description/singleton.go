package description

import (
	"errors"

	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/manager"
)

// Singleton describes a controller without an owner object, such as one of controller.NewSingleton: the objects that it reads, and an
// operator in which it is disabled. In a [System] it replaces Owners.
//
// The inputs have the role of the owners: they are created, changed by System.Change and changed back, and the first of several is
// deleted and recreated. When all of them are deleted, the state must be that of a cluster that never had them. With Off the operator is
// also disabled and enabled again: disabled after it has worked, it must leave the state of a cluster in which it was never enabled,
// except for System.Outlives.
type Singleton struct {
	// Inputs are objects of others that the controller reads, created one after the other after Given; namespaces are as in System.Owners. A
	// singleton that is configured only by the environment has none.
	Inputs []client.Object
	// Off is System.Setup of an operator in which the singleton is disabled. Like Setup it must add a controller, because a controller that
	// is not set up deletes nothing. Nil omits these cases.
	Off func(mgr manager.Manager) error
}

var errOwnersToo = errors.New("system: Owners and Singleton are both set: want the owners that the controllers reconcile, " +
	"or the inputs of a controller that has none")
