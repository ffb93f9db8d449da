// Package v1alpha1 contains the API of grafana.integreatly.org, version v1alpha1.
//
// +kubebuilder:object:generate=true
// +groupName=grafana.integreatly.org
package v1alpha1

import (
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/scheme"
)

// AddToScheme registers the kinds.
var AddToScheme = (&scheme.Builder{GroupVersion: schema.GroupVersion{Group: "grafana.integreatly.org", Version: "v1alpha1"}}).Register(
	&Grafana{}, &GrafanaList{},
	//reconcilekit:kinds
).AddToScheme
