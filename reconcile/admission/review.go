package admission

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"

	admissionv1 "k8s.io/api/admission/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"
)

// Decision is a response of a [Review]. The zero value allows the object without a message.
type Decision struct {
	// Code is the HTTP status of a rejection, such as 403; zero allows the object. A code below 400 is a program error and is answered with
	// 500.
	Code int32
	// Message is shown to the user; a rejection prefixes it with the name of the webhook. It is not a warning.
	Message string
}

// Review reviews an object. old is the stored object, the zero value on creation. An error reports that the review itself failed, and is
// answered with 500.
type Review[T client.Object] func(ctx context.Context, object, old T) (Decision, error)

// Reviewing returns a webhook that answers with the decision. It allows deletions. Prefer [Validating], whose responses name each field.
func Reviewing[T client.Object](kinds Kinds[T], review Review[T]) *admission.Webhook {
	return &admission.Webhook{Handler: admission.HandlerFunc(func(ctx context.Context, request admission.Request) admission.Response {
		object, old, reviewed, err := kinds.objects(request)
		if err != nil {
			return admission.Errored(http.StatusBadRequest, err)
		}
		if !reviewed {
			return admission.Allowed("")
		}
		decision, err := review(ctx, object, old)
		if err != nil {
			return admission.Errored(http.StatusInternalServerError, err)
		}
		return decision.response()
	})}
}

func (v Decision) response() admission.Response {
	switch {
	case v.Code == 0:
		return admission.Allowed(v.Message)
	case v.Code < http.StatusBadRequest:
		return admission.Errored(http.StatusInternalServerError,
			fmt.Errorf("admission.Decision.Code: %d is not a rejection status; want 400 or more, or 0 to allow the object", v.Code))
	case v.Code == http.StatusForbidden:
		return admission.Denied(v.Message)
	}
	return admission.Response{AdmissionResponse: admissionv1.AdmissionResponse{
		Result: &metav1.Status{Status: metav1.StatusFailure, Code: v.Code, Message: v.Message},
	}}
}

// ByKind returns a webhook that delegates each request to the webhook of its kind, in any version. A request of another kind is answered
// with 400.
func ByKind(webhooks map[schema.GroupKind]*admission.Webhook) *admission.Webhook {
	webhooks = maps.Clone(webhooks)
	return &admission.Webhook{Handler: admission.HandlerFunc(func(ctx context.Context, request admission.Request) admission.Response {
		asked := schema.GroupKind{Group: request.Kind.Group, Kind: request.Kind.Kind}
		if webhook := webhooks[asked]; webhook != nil {
			return webhook.Handler.Handle(ctx, request)
		}
		known := make([]string, 0, len(webhooks))
		for kind := range webhooks {
			known = append(known, kind.String())
		}
		slices.Sort(known)
		return admission.Errored(http.StatusBadRequest, fmt.Errorf("kind %s: want one of %s", asked, strings.Join(known, ", ")))
	})}
}
