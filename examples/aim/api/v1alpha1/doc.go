// Package v1alpha1 declares the kinds of the group aim.eai.amd.com/v1alpha1.
//
// The JSON names, defaults and validations are those of the product, so its manifests and its CRDs work with these types. Only
// AIMService has a controller in this example. The controller reads or creates objects of other kinds; the rest completes the group.
//
// +kubebuilder:object:generate=true
// +groupName=aim.eai.amd.com
package v1alpha1

import (
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/scheme"
)

// GroupVersion is the group and version of every kind in this package.
var GroupVersion = schema.GroupVersion{Group: "aim.eai.amd.com", Version: "v1alpha1"}

// builder registers the kinds.
var builder = (&scheme.Builder{GroupVersion: GroupVersion}).Register(
	&AIMService{}, &AIMServiceList{},
	&AIMModel{}, &AIMModelList{},
	&AIMClusterModel{}, &AIMClusterModelList{},
	&AIMServiceTemplate{}, &AIMServiceTemplateList{},
	&AIMClusterServiceTemplate{}, &AIMClusterServiceTemplateList{},
	&AIMTemplateCache{}, &AIMTemplateCacheList{},
	&AIMArtifact{}, &AIMArtifactList{},
	&AIMRuntimeConfig{}, &AIMRuntimeConfigList{},
	&AIMClusterRuntimeConfig{}, &AIMClusterRuntimeConfigList{},
	&AIMClusterModelSource{}, &AIMClusterModelSourceList{},
)

// AddToScheme registers the kinds of this package with a scheme.
var AddToScheme = builder.AddToScheme
