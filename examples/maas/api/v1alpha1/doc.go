// Package v1alpha1 declares the kinds of the group maas.opendatahub.io/v1alpha1.
//
// The JSON names, defaults and validations are those of the product, so its manifests and its CRDs work with these types.
//
// +kubebuilder:object:generate=true
// +groupName=maas.opendatahub.io
package v1alpha1

import (
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/scheme"
)

// GroupVersion is the group and version of every kind in this package.
var GroupVersion = schema.GroupVersion{Group: "maas.opendatahub.io", Version: "v1alpha1"}

// builder registers the kinds.
var builder = (&scheme.Builder{GroupVersion: GroupVersion}).Register(
	&ExternalModel{}, &ExternalModelList{},
	&MaaSModelRef{}, &MaaSModelRefList{},
	&MaaSAuthPolicy{}, &MaaSAuthPolicyList{},
	&MaaSSubscription{}, &MaaSSubscriptionList{},
	&Tenant{}, &TenantList{},
)

// AddToScheme registers the kinds of this package with a scheme.
var AddToScheme = builder.AddToScheme
