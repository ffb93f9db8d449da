// Package v1 declares the kind Website of the quickstart.
//
// +kubebuilder:object:generate=true
// +groupName=quickstart.example.com
package v1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/scheme"
)

//go:generate go tool controller-gen object crd paths=. output:crd:dir=../../config/crd

// AddToScheme registers the kind.
var AddToScheme = (&scheme.Builder{GroupVersion: schema.GroupVersion{Group: "quickstart.example.com", Version: "v1"}}).
	Register(&Website{}, &WebsiteList{}).AddToScheme

// Website is a page of text, served over HTTP.
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:printcolumn:name="Ready",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].status`
type Website struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`
	Spec              WebsiteSpec   `json:"spec,omitempty"`
	Status            WebsiteStatus `json:"status,omitempty"`
}

// WebsiteSpec is the desired state of a Website.
type WebsiteSpec struct {
	Text string `json:"text"` // of the page
	// +kubebuilder:validation:Minimum=0
	Replicas *int32 `json:"replicas,omitempty"` // 1 when unset
}

// WebsiteStatus is the observed state of a Website.
type WebsiteStatus struct {
	// +listType=map
	// +listMapKey=type
	Conditions []metav1.Condition `json:"conditions,omitempty"`
}

// WebsiteList is a list of websites.
// +kubebuilder:object:root=true
type WebsiteList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []Website `json:"items"`
}
