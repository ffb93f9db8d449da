// Package v1beta1 holds what the operator needs of InferenceService, KServe's kind of a model that is served. KServe's own Go module pins
// another version of Kubernetes; what is not declared here is never sent.
//
// +kubebuilder:object:generate=true
// +groupName=serving.kserve.io
package v1beta1

import (
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/scheme"
)

// GroupVersion is the group and version of the kinds in this package.
var GroupVersion = schema.GroupVersion{Group: "serving.kserve.io", Version: "v1beta1"}

// AddToScheme registers the kinds of this package with a scheme.
var AddToScheme = (&scheme.Builder{GroupVersion: GroupVersion}).Register(&InferenceService{}, &InferenceServiceList{}).AddToScheme
