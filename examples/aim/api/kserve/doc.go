// Package kserve declares the fields of a KServe InferenceService (serving.kserve.io/v1beta1) that this product uses, with KServe's
// JSON names. It does not import KServe's module, which requires other versions of Kubernetes.
//
// +kubebuilder:object:generate=true
package kserve

//go:generate go tool controller-gen object paths=.
