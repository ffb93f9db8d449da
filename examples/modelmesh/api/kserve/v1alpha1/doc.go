// Package v1alpha1 declares ServingRuntime and ClusterServingRuntime, KServe's kinds in the group serving.kserve.io that ModelMesh
// uses.
//
// The JSON names and validations are those of the product, so its manifests and its CRDs work with these types.
//
// +kubebuilder:object:generate=true
// +groupName=serving.kserve.io
package v1alpha1

import (
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/scheme"
)

// GroupVersion is the group and version of the kinds in this package.
var GroupVersion = schema.GroupVersion{Group: "serving.kserve.io", Version: "v1alpha1"}

// builder registers the kinds.
var builder = (&scheme.Builder{GroupVersion: GroupVersion}).Register(
	&ServingRuntime{}, &ServingRuntimeList{}, &ClusterServingRuntime{}, &ClusterServingRuntimeList{})

// AddToScheme registers the kinds of this package with a scheme.
var AddToScheme = builder.AddToScheme
