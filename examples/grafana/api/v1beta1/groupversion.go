// Package v1beta1 contains the API of grafana.integreatly.org, version v1beta1.
//
// +kubebuilder:object:generate=true
// +groupName=grafana.integreatly.org
package v1beta1

import (
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/scheme"
)

// AddToScheme registers the kinds.
var AddToScheme = (&scheme.Builder{GroupVersion: schema.GroupVersion{Group: "grafana.integreatly.org", Version: "v1beta1"}}).Register(
	&Grafana{}, &GrafanaList{},
	&GrafanaFolder{}, &GrafanaFolderList{},
	&GrafanaDashboard{}, &GrafanaDashboardList{},
	//reconcilekit:kinds
).AddToScheme
