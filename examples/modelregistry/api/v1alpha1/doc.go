// Package v1alpha1 declares the deprecated version of ModelRegistry of the group modelregistry.opendatahub.io, which is served and
// converted.
//
// +kubebuilder:object:generate=true
// +groupName=modelregistry.opendatahub.io
package v1alpha1

import (
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/scheme"
)

// GroupVersion is the group and version of the kinds in this package.
var GroupVersion = schema.GroupVersion{Group: "modelregistry.opendatahub.io", Version: "v1alpha1"}

// builder registers the kinds.
var builder = (&scheme.Builder{GroupVersion: GroupVersion}).Register(&ModelRegistry{}, &ModelRegistryList{})

// AddToScheme registers the kinds of this package with a scheme.
var AddToScheme = builder.AddToScheme
