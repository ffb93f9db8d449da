// Package v1beta1 declares the fields of KServe's InferenceService that the operator uses. It never sends other fields. KServe's own
// Go module requires another version of Kubernetes.
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
