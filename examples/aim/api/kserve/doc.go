// Package kserve declares the fields of a KServe InferenceService
// (serving.kserve.io/v1beta1) that this product uses, as KServe writes them. The
// module of KServe is not imported: it pins other versions of Kubernetes.
//
// +kubebuilder:object:generate=true
package kserve

//go:generate go tool controller-gen object paths=.
