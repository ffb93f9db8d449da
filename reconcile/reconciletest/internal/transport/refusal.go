package transport

import (
	"errors"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// The errors with which an API server rejects a request.
const (
	faultForbidden   Fault = "403"
	faultQuota       Fault = "403 quota"
	FaultTerminating Fault = "403 namespace terminating"
	faultNotFound    Fault = "404"
	faultInvalid     Fault = "422"
	faultThrottled   Fault = "429"
	faultWebhook     Fault = "500 webhook"
)

// Refusals returns the faults that are only an error.
func Refusals() map[Fault]func(schema.GroupKind, schema.GroupResource, string) error {
	return map[Fault]func(schema.GroupKind, schema.GroupResource, string) error{
		FaultError: func(schema.GroupKind, schema.GroupResource, string) error {
			return apierrors.NewInternalError(ErrRefused)
		},
		FaultConflict: func(_ schema.GroupKind, r schema.GroupResource, name string) error {
			return apierrors.NewConflict(r, name, ErrRefused)
		},
		faultForbidden: func(_ schema.GroupKind, r schema.GroupResource, name string) error {
			return apierrors.NewForbidden(r, name, ErrRefused)
		},
		faultQuota: func(_ schema.GroupKind, r schema.GroupResource, name string) error {
			return apierrors.NewForbidden(r, name, errors.New("exceeded quota: injected by the test"))
		},
		FaultTerminating: func(_ schema.GroupKind, r schema.GroupResource, name string) error {
			err := apierrors.NewForbidden(r, name, errors.New("unable to create new content: the namespace is being terminated"))
			err.ErrStatus.Details.Causes = []metav1.StatusCause{{Type: corev1.NamespaceTerminatingCause}}
			return err
		},
		faultNotFound: func(_ schema.GroupKind, r schema.GroupResource, name string) error {
			return apierrors.NewNotFound(r, name)
		},
		faultInvalid: func(kind schema.GroupKind, _ schema.GroupResource, name string) error {
			return apierrors.NewInvalid(kind, name, field.ErrorList{field.Forbidden(field.NewPath("spec"), ErrRefused.Error())})
		},
		faultThrottled: func(schema.GroupKind, schema.GroupResource, string) error {
			return apierrors.NewTooManyRequests(ErrRefused.Error(), 1)
		},
		faultWebhook: func(schema.GroupKind, schema.GroupResource, string) error {
			return apierrors.NewInternalError(errors.New(`failed calling webhook "test": injected by the test`))
		},
	}
}

// Lasting returns the rejections that a case may repeat, permanently or several times in a row; requests get them in rotation.
func Lasting() []Fault {
	return []Fault{faultForbidden, faultThrottled, faultInvalid, faultWebhook, faultQuota, FaultConflict, FaultTerminating}
}

// Final reports whether an operator may treat a rejection as permanent and not retry: an invalid object remains invalid, and a
// terminating namespace does not return.
func Final(fault Fault) bool { return fault == faultInvalid || fault == FaultTerminating }
