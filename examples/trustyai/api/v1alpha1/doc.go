// Package v1alpha1 declares the kinds GuardrailsOrchestrator, NemoGuardrails and LMEvalJob of the group trustyai.opendatahub.io, and
// the older versions of TrustyAIService and EvalHub.
//
// The JSON names, defaults and validations are those of the product, so its manifests and its CRDs work with these types.
//
// +kubebuilder:object:generate=true
// +groupName=trustyai.opendatahub.io
package v1alpha1

import (
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/scheme"
)

// GroupVersion is the group and version of the kinds in this package.
var GroupVersion = schema.GroupVersion{Group: "trustyai.opendatahub.io", Version: "v1alpha1"}

// builder registers the kinds.
var builder = (&scheme.Builder{GroupVersion: GroupVersion}).Register(
	&TrustyAIService{}, &TrustyAIServiceList{}, &GuardrailsOrchestrator{}, &GuardrailsOrchestratorList{}, &NemoGuardrails{},
	&NemoGuardrailsList{},
	&LMEvalJob{}, &LMEvalJobList{}, &EvalHub{}, &EvalHubList{})

// AddToScheme registers the kinds of this package with a scheme.
var AddToScheme = builder.AddToScheme
