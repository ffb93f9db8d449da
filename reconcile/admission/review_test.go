package admission_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"testing"

	admissionv1 "k8s.io/api/admission/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	ctrl "sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	"github.com/reconcilekit/reconcilekit/reconcile/admission"
)

// boxes and secrets are kinds with one version, and no conversion.
func boxes() admission.Kinds[*corev1.ConfigMap] {
	return admission.Kinds[*corev1.ConfigMap]{Hub: func() *corev1.ConfigMap { return &corev1.ConfigMap{} }, Scheme: clientgoscheme.Scheme}
}

func secrets() admission.Kinds[*corev1.Secret] {
	return admission.Kinds[*corev1.Secret]{Hub: func() *corev1.Secret { return &corev1.Secret{} }, Scheme: clientgoscheme.Scheme}
}

func reviewed(t interface{ Context() context.Context }, hook *ctrl.Webhook, kind string, operation admissionv1.Operation, object, old string) ctrl.Response {
	return hook.Handler.Handle(t.Context(), ctrl.Request{AdmissionRequest: admissionv1.AdmissionRequest{
		Kind: metav1.GroupVersionKind{Version: "v1", Kind: kind}, Operation: operation,
		Object: runtime.RawExtension{Raw: []byte(object)}, OldObject: runtime.RawExtension{Raw: []byte(old)},
	}})
}

func bothKinds() *ctrl.Webhook {
	return admission.ByKind(map[schema.GroupKind]*ctrl.Webhook{
		{Kind: "ConfigMap"}: admission.Reviewing(boxes(), func(_ context.Context, object, old *corev1.ConfigMap) (admission.Decision, error) {
			switch object.Data["size"] {
			case "odd":
				return admission.Decision{Code: http.StatusForbidden, Message: "odd boxes do not stack"}, nil
			case "taken":
				return admission.Decision{Code: http.StatusConflict, Message: "there is one"}, nil
			case "wrong":
				return admission.Decision{Code: 200, Message: "?"}, nil
			case "unknown":
				return admission.Decision{}, errors.New("the shelf does not respond")
			}
			if old != nil {
				return admission.Decision{Message: "changed"}, nil
			}
			return admission.Decision{Message: "passed"}, nil
		}),
		{Kind: "Secret"}: admission.Validating(secrets(), func(context.Context, *corev1.Secret, *corev1.Secret) (field.ErrorList, error) {
			return field.ErrorList{field.Required(field.NewPath("data"), "")}, nil
		}),
	})
}

func TestReviewing(t *testing.T) {
	t.Parallel()
	sized := func(size string) string {
		return fmt.Sprintf(`{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a"},"data":{"size":%q}}`, size)
	}
	for name, test := range map[string]struct {
		kind, object, old string
		operation         admissionv1.Operation
		allowed           bool
		code              int32
		message           string
	}{
		"passed":        {kind: "ConfigMap", object: sized("even"), allowed: true, code: 200, message: "passed"},
		"changed":       {kind: "ConfigMap", object: sized("even"), old: sized("odd"), allowed: true, code: 200, message: "changed"},
		"refused":       {kind: "ConfigMap", object: sized("odd"), code: 403, message: "odd boxes do not stack"},
		"another code":  {kind: "ConfigMap", object: sized("taken"), code: 409, message: "there is one"},
		"a wrong code":  {kind: "ConfigMap", object: sized("wrong"), code: 500, message: "admission.Decision.Code: 200 is not a rejection status; want 400 or more, or 0 to allow the object"},
		"failed review": {kind: "ConfigMap", object: sized("unknown"), code: 500, message: "the shelf does not respond"},
		"being deleted": {kind: "ConfigMap", object: `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a","deletionTimestamp":"2026-01-01T00:00:00Z"},"data":{"size":"odd"}}`, old: sized("odd"), allowed: true, code: 200},
		"deleted":       {kind: "ConfigMap", operation: admissionv1.Delete, allowed: true, code: 200},
		"another kind at the path": {
			kind: "Secret", object: `{"apiVersion":"v1","kind":"Secret","metadata":{"name":"a"}}`, code: 422,
			message: `Secret "a" is invalid: data: Required value`,
		},
		"an unknown kind": {kind: "Pod", object: `{}`, code: 400, message: "kind Pod: want one of ConfigMap, Secret"},
		"invalid JSON":    {kind: "ConfigMap", object: `{`, code: 400, message: "couldn't get version/kind; json parse error: unexpected end of JSON input"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			operation := test.operation
			if operation == "" {
				operation = admissionv1.Create
			}
			if test.old != "" {
				operation = admissionv1.Update
			}
			got := reviewed(t, bothKinds(), test.kind, operation, test.object, test.old)
			if got.Allowed != test.allowed || got.Result.Code != test.code || got.Result.Message != test.message {
				t.Errorf("got %t %d %q, want %t %d %q", got.Allowed, got.Result.Code, got.Result.Message, test.allowed, test.code, test.message)
			}
		})
	}
}

func TestSpokesWithoutHub(t *testing.T) {
	t.Parallel()
	mixed := admission.Kinds[*corev1.ConfigMap]{Hub: boxes().Hub, Scheme: kinds().Scheme, Spokes: kinds().Spokes}
	hook := admission.Defaulting(mixed, func(*corev1.ConfigMap) {})
	got := hook.Handler.Handle(t.Context(), request("v1beta1", `{"apiVersion":"example.com/v1beta1","kind":"Cabinet","metadata":{"name":"a"}}`, ""))
	want := "*v1.ConfigMap is not a conversion.Hub: add a method Hub, or remove Spokes"
	if got.Allowed || got.Result.Message != want {
		t.Errorf("got %+v, want %s", got.Result, want)
	}
}

func ExampleByKind() {
	hook := bothKinds()
	object := `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a"},"data":{"size":"odd"}}`
	response := hook.Handler.Handle(context.Background(), ctrl.Request{AdmissionRequest: admissionv1.AdmissionRequest{
		Kind: metav1.GroupVersionKind{Version: "v1", Kind: "ConfigMap"}, Object: runtime.RawExtension{Raw: []byte(object)},
	}})
	fmt.Println(response.Allowed, response.Result.Code, response.Result.Message)
	// Output: false 403 odd boxes do not stack
}
