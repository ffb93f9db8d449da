// Package kueue declares the fields that the job manager uses of the kinds of Kueue. It never sends other fields.
//
// +kubebuilder:object:generate=true
package kueue

import (
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/scheme"
)

var builder = (&scheme.Builder{GroupVersion: schema.GroupVersion{Group: "kueue.x-k8s.io", Version: "v1beta2"}}).
	Register(&Workload{}, &WorkloadList{}, &ResourceFlavor{}, &ResourceFlavorList{})

// AddToScheme registers the kinds of this package with a scheme.
var AddToScheme = builder.AddToScheme
