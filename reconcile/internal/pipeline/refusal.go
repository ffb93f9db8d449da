package pipeline

import (
	"errors"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/reconcilekit/reconcilekit/health"
	"github.com/reconcilekit/reconcilekit/reconcile/apply"
)

// Reasons of the errors of the apply engine in conditions.
const (
	// reasonOwnedByAnother: an object of the plan exists and another controller or user owns it.
	reasonOwnedByAnother = "OwnedByAnother"
	// reasonFieldsContested: other field managers own planned fields.
	reasonFieldsContested = "FieldsContested"
	// reasonDeletedByOthers: an object of the plan is deleted each time it is created.
	reasonDeletedByOthers = "DeletedByOthers"
)

// categorize adds to an error of the apply engine the category and reason for conditions, and the object to the message.
func categorize(err error) error {
	var owned *apply.OwnedByAnotherError
	if errors.As(err, &owned) {
		return health.NewError(health.Conflict, reasonOwnedByAnother, owned.Error(), err)
	}
	var contested *apply.ContestedError
	if errors.As(err, &contested) {
		return health.NewError(health.Conflict, reasonFieldsContested, contested.Error(), err)
	}
	var deleted *apply.DeletedByOthersError
	if errors.As(err, &deleted) {
		return health.NewError(health.Conflict, reasonDeletedByOthers, deleted.Error(), err)
	}
	var object *apply.ObjectError
	if errors.As(err, &object) {
		found := health.Categorize(object.Err)
		name := object.GVK.Kind + " " + strings.TrimPrefix(object.Key.String(), "/")
		return health.NewError(found.Category, found.Reason, name+": "+found.Message, err)
	}
	return err
}

// objectOf returns the object that an error concerns, if it is the error of a write.
func objectOf(err error) (object apply.ObjectResult, known bool) {
	var concerns *apply.ObjectError
	if errors.As(err, &concerns) {
		return concerns.ObjectResult, true
	}
	return object, false
}

// settled reports whether an immediate retry of a conflict cannot succeed, because another owner or field manager
// has to change first.
func settled(err error) bool {
	var owned *apply.OwnedByAnotherError
	var contested *apply.ContestedError
	var deleted *apply.DeletedByOthersError
	return errors.As(err, &owned) || errors.As(err, &contested) || errors.As(err, &deleted)
}

// refused reports whether the API server has refused a request for a cause that may not be watched: a missing permission,
// an admission policy, a quota.
func refused(err error) bool {
	var status apierrors.APIStatus
	return errors.As(err, &status) && !apierrors.IsNotFound(err)
}

// awaitsEvent reports whether an error is not retried because an event follows when its cause is resolved.
func awaitsEvent(err error) bool {
	category := health.Categorize(err).Category
	return !category.Retries() && !category.Terminal()
}

// splitErrors returns the parts of joined errors at any depth.
func splitErrors(err error) []error {
	if err == nil {
		return nil
	}
	joined, ok := err.(interface{ Unwrap() []error })
	if !ok {
		return []error{err}
	}
	var parts []error
	for _, part := range joined.Unwrap() {
		parts = append(parts, splitErrors(part)...)
	}
	return parts
}
