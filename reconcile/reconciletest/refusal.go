package reconciletest

import (
	"errors"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// The answers by which an API server refuses a request.
const (
	faultForbidden   fault = "403"
	faultQuota       fault = "403 quota"
	faultTerminating fault = "403 namespace terminating"
	faultNotFound    fault = "404"
	faultInvalid     fault = "422"
	faultThrottled   fault = "429"
	faultWebhook     fault = "500 webhook"
)

// refusals are the faults that are nothing but an answer.
func refusals() map[fault]func(schema.GroupKind, schema.GroupResource, string) error {
	return map[fault]func(schema.GroupKind, schema.GroupResource, string) error{
		faultError: func(schema.GroupKind, schema.GroupResource, string) error {
			return apierrors.NewInternalError(errRefused)
		},
		faultConflict: func(_ schema.GroupKind, r schema.GroupResource, name string) error {
			return apierrors.NewConflict(r, name, errRefused)
		},
		faultForbidden: func(_ schema.GroupKind, r schema.GroupResource, name string) error {
			return apierrors.NewForbidden(r, name, errRefused)
		},
		faultQuota: func(_ schema.GroupKind, r schema.GroupResource, name string) error {
			return apierrors.NewForbidden(r, name, errors.New("exceeded quota: injected by the test"))
		},
		faultTerminating: func(_ schema.GroupKind, r schema.GroupResource, name string) error {
			err := apierrors.NewForbidden(r, name, errors.New("unable to create new content: the namespace is being terminated"))
			err.ErrStatus.Details.Causes = []metav1.StatusCause{{Type: corev1.NamespaceTerminatingCause}}
			return err
		},
		faultNotFound: func(_ schema.GroupKind, r schema.GroupResource, name string) error {
			return apierrors.NewNotFound(r, name)
		},
		faultInvalid: func(kind schema.GroupKind, _ schema.GroupResource, name string) error {
			return apierrors.NewInvalid(kind, name, field.ErrorList{field.Forbidden(field.NewPath("spec"), errRefused.Error())})
		},
		faultThrottled: func(schema.GroupKind, schema.GroupResource, string) error {
			return apierrors.NewTooManyRequests(errRefused.Error(), 1)
		},
		faultWebhook: func(schema.GroupKind, schema.GroupResource, string) error {
			return apierrors.NewInternalError(errors.New(`failed calling webhook "test": injected by the test`))
		},
	}
}

// lasting are the refusals that a case may keep up; which of them a request gets goes round.
func lasting() []fault {
	return []fault{faultForbidden, faultThrottled, faultInvalid, faultWebhook, faultQuota, faultConflict, faultTerminating}
}
