// Package v1alpha1 declares the API types of ModelMesh Serving in the group serving.kserve.io.
//
// +kubebuilder:object:generate=true
// +groupName=serving.kserve.io
package v1alpha1
