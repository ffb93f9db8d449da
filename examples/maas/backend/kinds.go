package backend

import (
	"cmp"

	"github.com/reconcilekit/reconcilekit/reconcile"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
)

// The kinds of other projects. They are not in the scheme: the operator knows
// only the fields that it sends and reads.
var (
	AuthPolicy           = schema.GroupVersionKind{Group: "kuadrant.io", Version: "v1", Kind: "AuthPolicy"}
	TokenRateLimitPolicy = schema.GroupVersionKind{Group: "kuadrant.io", Version: "v1alpha1", Kind: "TokenRateLimitPolicy"}
	ServiceEntry         = schema.GroupVersionKind{Group: "networking.istio.io", Version: "v1", Kind: "ServiceEntry"}
	DestinationRule      = schema.GroupVersionKind{Group: "networking.istio.io", Version: "v1", Kind: "DestinationRule"}
	LLMInferenceService  = schema.GroupVersionKind{Group: "serving.kserve.io", Version: "v1alpha1", Kind: "LLMInferenceService"}
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

// New returns an object with labels and a spec.
func New(gvk schema.GroupVersionKind, key types.NamespacedName, labels map[string]string, spec map[string]any) *unstructured.Unstructured {
	u := Kind(gvk)
	u.SetNamespace(key.Namespace)
	u.SetName(key.Name)
	u.SetLabels(labels)
	u.Object["spec"] = spec
	return u
}

// Audience is who the cluster makes tokens of service accounts for; empty when
// it does not say so.
func Audience(authentication reconcile.FetchResult[*unstructured.Unstructured]) string {
	if authentication.HasError() {
		return ""
	}
	issuer, _, _ := unstructured.NestedString(authentication.Value.Object, "spec", "serviceAccountIssuer")
	return issuer
}

// Conditions returns the conditions of an object; nil when it has none.
func Conditions(u *unstructured.Unstructured) []metav1.Condition {
	var status struct {
		Status struct {
			Conditions []metav1.Condition `json:"conditions"`
		} `json:"status"`
	}
	if u == nil || runtime.DefaultUnstructuredConverter.FromUnstructured(u.Object, &status) != nil {
		return nil
	}
	return status.Status.Conditions
}

// CompareKeys orders names by namespace and name.
func CompareKeys(a, b types.NamespacedName) int {
	return cmp.Or(cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name))
}

// Key is the name of the model.
func Key(namespace, name string) types.NamespacedName {
	return types.NamespacedName{Namespace: namespace, Name: name}
}
