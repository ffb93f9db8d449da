package models

import (
	"errors"
	"io/fs"

	"github.com/reconcilekit/reconcilekit/manifests"
	"github.com/reconcilekit/reconcilekit/reconcile"
	"github.com/reconcilekit/reconcilekit/reconcile/children"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
)

// The kinds of other projects. They are not in the scheme: the operator uses only a few of their fields.
var (
	AuthPolicy           = schema.GroupVersionKind{Group: "kuadrant.io", Version: "v1", Kind: "AuthPolicy"}
	TokenRateLimitPolicy = schema.GroupVersionKind{Group: "kuadrant.io", Version: "v1alpha1", Kind: "TokenRateLimitPolicy"}
	ServiceEntry         = schema.GroupVersionKind{Group: "networking.istio.io", Version: "v1", Kind: "ServiceEntry"}
	DestinationRule      = schema.GroupVersionKind{Group: "networking.istio.io", Version: "v1", Kind: "DestinationRule"}
	LLMInferenceService  = schema.GroupVersionKind{Group: "serving.kserve.io", Version: "v1alpha1", Kind: "LLMInferenceService"}
	Telemetry            = schema.GroupVersionKind{Group: "telemetry.istio.io", Version: "v1", Kind: "Telemetry"}
	TelemetryPolicy      = schema.GroupVersionKind{Group: "extensions.kuadrant.io", Version: "v1alpha1", Kind: "TelemetryPolicy"}
	Authentication       = schema.GroupVersionKind{Group: "config.openshift.io", Version: "v1", Kind: "Authentication"}
)

// Kind returns an empty object of the kind.
func Kind(gvk schema.GroupVersionKind) *unstructured.Unstructured {
	u := &unstructured.Unstructured{}
	u.SetGroupVersionKind(gvk)
	return u
}

// List returns an empty list of the kind.
func List(gvk schema.GroupVersionKind) *unstructured.UnstructuredList {
	u := &unstructured.UnstructuredList{}
	u.SetGroupVersionKind(gvk.GroupVersion().WithKind(gvk.Kind + "List"))
	return u
}

// Children returns the set of the listed children, with the templates in the folder of that name. The kinds are those of the scheme
// and those of other projects.
func Children[F any](files fs.FS, list ...children.Child[F]) (*children.Set[F], error) {
	scheme := runtime.NewScheme()
	err := AddToScheme(scheme)
	for _, gvk := range []schema.GroupVersionKind{
		AuthPolicy, TokenRateLimitPolicy, ServiceEntry, DestinationRule, Telemetry, TelemetryPolicy,
	} {
		scheme.AddKnownTypeWithName(gvk, &unstructured.Unstructured{})
	}
	templates, parseErr := manifests.Parse(files, scheme, "templates/*.yaml")
	return &children.Set[F]{Manifests: templates, Children: list}, errors.Join(err, parseErr)
}

// Audience returns the audience of the service account tokens that the cluster issues, or the empty string if the cluster does not
// name one.
func Audience(authentication reconcile.FetchResult[*unstructured.Unstructured]) string {
	if authentication.HasError() {
		return ""
	}
	issuer, _, _ := unstructured.NestedString(authentication.Value.Object, "spec", "serviceAccountIssuer")
	return issuer
}

// Status returns the status of an object, or the zero value if it has none or one of another type.
func Status[S any](u *unstructured.Unstructured) S {
	var object, none struct {
		Status S `json:"status"`
	}
	if u == nil || runtime.DefaultUnstructuredConverter.FromUnstructured(u.Object, &object) != nil {
		return none.Status
	}
	return object.Status
}

// Conditions returns the conditions of an object, or nil.
func Conditions(u *unstructured.Unstructured) []metav1.Condition {
	return Status[struct {
		Conditions []metav1.Condition `json:"conditions"`
	}](u).Conditions
}

// Key returns the name of the model.
func Key(namespace, name string) types.NamespacedName {
	return types.NamespacedName{Namespace: namespace, Name: name}
}
