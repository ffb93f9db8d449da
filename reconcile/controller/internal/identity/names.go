package identity

import (
	"cmp"

	"github.com/reconcilekit/reconcilekit/reconcile/apply"
)

// Names are those of a controller, and of what it leaves on objects.
type Names struct {
	Controller   string
	FieldManager string
	Finalizer    string
}

// Of returns the names of a controller: those of the options, or else what follows from its name.
func Of(controller string, options apply.Options) Names {
	n := Names{Controller: controller, FieldManager: cmp.Or(options.FieldManager, controller)}
	n.Finalizer = cmp.Or(options.Finalizer, cmp.Or(options.Domain, apply.DefaultDomain)+"/"+n.FieldManager)
	return n
}
