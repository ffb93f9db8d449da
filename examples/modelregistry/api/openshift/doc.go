// Package openshift declares the fields that the operator uses of three OpenShift kinds, in their original groups: Route, Group, and
// the cluster's Ingress configuration. It does not import the modules of these kinds.
//
// +kubebuilder:object:generate=true
package openshift

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// The groups and versions of the kinds.
var (
	RouteGroupVersion  = schema.GroupVersion{Group: "route.openshift.io", Version: "v1"}
	UserGroupVersion   = schema.GroupVersion{Group: "user.openshift.io", Version: "v1"}
	ConfigGroupVersion = schema.GroupVersion{Group: "config.openshift.io", Version: "v1"}
)

// AddToScheme registers the kinds of this package with a scheme.
func AddToScheme(scheme *runtime.Scheme) error {
	scheme.AddKnownTypes(RouteGroupVersion, &Route{}, &RouteList{})
	scheme.AddKnownTypes(UserGroupVersion, &Group{}, &GroupList{})
	scheme.AddKnownTypes(ConfigGroupVersion, &Ingress{}, &IngressList{})
	for _, version := range []schema.GroupVersion{RouteGroupVersion, UserGroupVersion, ConfigGroupVersion} {
		metav1.AddToGroupVersion(scheme, version)
	}
	return nil
}
