package controller

import (
	"errors"
	"fmt"
	"net/http"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/reconcilekit/reconcilekit/reconcile/controller/internal/declaration"
)

// UndeclaredError reports a read or write of a kind that the builder of the controller does not declare: the read would
// have no watch, and the permissions would be missing. Its message contains the line to add.
//
//	type UndeclaredError struct {
//		// Controller is the name of the controller.
//		Controller string
//		// GVK is the kind.
//		GVK schema.GroupVersionKind
//		// Declaration is the call of the [Builder] that declares the kind for this use, as Go code.
//		Declaration string
//	}
//
//	// Error contains the line to add.
//	func (e *UndeclaredError) Error() string
//
//	// HealthCategory returns ProgramError.
//	func (e *UndeclaredError) HealthCategory() string
//
//	// HealthReason returns the reason of the condition.
//	func (e *UndeclaredError) HealthReason() string
type UndeclaredError = declaration.UndeclaredError

// AbsentError reports a read of an object of an optional kind whose CRD is not installed. It is a NotFound
// (apierrors.IsNotFound); use [IsAbsent] to distinguish it.
type AbsentError struct {
	// GVK is the missing kind.
	GVK schema.GroupVersionKind
	// Name is the name of the object.
	Name string
}

var _ apierrors.APIStatus = (*AbsentError)(nil)

// Error returns a message with the kind whose CRD is missing.
func (e *AbsentError) Error() string {
	return fmt.Sprintf("%s is not installed in the cluster, so there is no %q", declaration.Print(e.GVK), e.Name)
}

// NotInstalled returns the kind whose CRD is missing.
func (e *AbsentError) NotInstalled() schema.GroupVersionKind { return e.GVK }

// Status returns the status of a NotFound.
func (e *AbsentError) Status() metav1.Status {
	return metav1.Status{
		Status: metav1.StatusFailure, Code: http.StatusNotFound, Reason: metav1.StatusReasonNotFound, Message: e.Error(),
		Details: &metav1.StatusDetails{Group: e.GVK.Group, Kind: e.GVK.Kind, Name: e.Name},
	}
}

// IsAbsent reports whether the error is an [AbsentError]: a read of an optional kind whose CRD is missing.
func IsAbsent(err error) bool {
	var absent *AbsentError
	return errors.As(err, &absent)
}

// absent returns the error of a read of an object whose kind is not installed.
func absent(kind schema.GroupVersionKind, name string) error {
	return &AbsentError{GVK: kind, Name: name}
}
