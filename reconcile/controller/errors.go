package controller

import (
	"errors"

	"github.com/reconcilekit/reconcilekit/reconcile/controller/internal/declaration"
)

// UndeclaredError is the refusal to read or write a kind that is not declared at the builder of the controller: such a read would have
// no watch, and the rights would not allow it. Its text names the line to add. Its fields are Controller, the name of the
// controller; GVK, the kind; and Declaration, the call of the [Builder] that declares the kind for this use, as Go code.
type UndeclaredError = declaration.UndeclaredError

// AbsentError is the answer to the read of an object of an optional kind whose CRD is not installed. It is a NotFound
// (apierrors.IsNotFound) that can be told apart with errors.As. Its fields are GVK, the missing kind, and Name, that of the object
// that was asked for.
type AbsentError = declaration.AbsentError

// IsAbsent reports whether the error is that of a read of an optional kind whose CRD is missing: an [AbsentError].
func IsAbsent(err error) bool {
	var absent *AbsentError
	return errors.As(err, &absent)
}
