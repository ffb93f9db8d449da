// Package webhook implements the admission and conversion webhooks of ModelRegistry.
package webhook

import (
	"context"
	"fmt"
	"net/http"

	"github.com/reconcilekit/reconcilekit/reconcile/admission"
	"github.com/reconcilekit/reconcilekit/reconcile/controller/dataflow"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"sigs.k8s.io/controller-runtime/pkg/client"
	hubs "sigs.k8s.io/controller-runtime/pkg/conversion"
	"sigs.k8s.io/controller-runtime/pkg/webhook/conversion"

	"github.com/reconcilekit/reconcilekit/examples/modelregistry/api/v1alpha1"
	"github.com/reconcilekit/reconcilekit/examples/modelregistry/api/v1beta1"
)

// The paths under which the webhooks are served.
const (
	MutatePath   = "/mutate-modelregistry-opendatahub-io-modelregistry"
	ValidatePath = "/validate-modelregistry-opendatahub-io-modelregistry"
	ConvertPath  = "/convert"
)

// Service is the Service that the API server calls, with the name of the product.
const Service = "model-registry-operator-webhook-service"

// Handlers returns the handlers by path, or none if webhooks are switched off. The handlers list the registries of a name with
// reader and not from the cache, which may lack a new registry.
func Handlers(scheme *runtime.Scheme, live client.Reader, settings v1beta1.Settings) map[string]http.Handler {
	if !settings.Webhooks {
		return nil
	}
	kinds := admission.Kinds[*v1beta1.ModelRegistry]{
		Hub: func() *v1beta1.ModelRegistry { return &v1beta1.ModelRegistry{} }, Scheme: scheme,
		Spokes: map[schema.GroupVersionKind]func() hubs.Convertible{
			v1alpha1.GroupVersion.WithKind("ModelRegistry"): func() hubs.Convertible { return &v1alpha1.ModelRegistry{} },
		},
	}
	return map[string]http.Handler{
		MutatePath: admission.Defaulting(kinds, func(m *v1beta1.ModelRegistry) { m.Default(settings.RestImage) }),
		ValidatePath: admission.Validating(kinds,
			func(_ context.Context, m, _ *v1beta1.ModelRegistry) (field.ErrorList, error) {
				return m.Validate(settings.Namespace), nil
			},
			nameIsFree(live)),
		ConvertPath: conversion.NewWebhookHandler(scheme, conversion.NewRegistry()),
	}
}

// nameIsFree checks the name of a new registry: it is valid, and no registry in another namespace has it.
func nameIsFree(live client.Reader) admission.Validator[*v1beta1.ModelRegistry] {
	return func(ctx context.Context, m, old *v1beta1.ModelRegistry) (field.ErrorList, error) {
		if old != nil {
			return nil, nil
		}
		problems := m.ValidateName()
		var others v1beta1.ModelRegistryList
		if err := live.List(ctx, &others, client.MatchingFields{"metadata.name": m.Name}); err != nil {
			return problems, fmt.Errorf("list the registries named %s: %w", m.Name, err)
		}
		for _, other := range others.Items {
			if other.Namespace != m.Namespace {
				problems = append(problems, field.Duplicate(field.NewPath("metadata", "name"),
					"registry named "+m.Name+" already exists in namespace "+other.Namespace))
			}
		}
		return problems, nil
	}
}

// Describe returns the description of the admission webhooks for the page.
func Describe() []dataflow.Webhook {
	rules := []admissionregistrationv1.RuleWithOperations{{
		Operations: []admissionregistrationv1.OperationType{admissionregistrationv1.Create, admissionregistrationv1.Update},
		Rule: admissionregistrationv1.Rule{
			APIGroups: []string{v1beta1.GroupVersion.Group}, APIVersions: []string{"v1alpha1", "v1beta1"}, Resources: []string{"modelregistries"},
		},
	}}
	hook := func(name, kind, path string) dataflow.Webhook {
		return dataflow.Webhook{
			Name: name, Type: kind, Path: path, FailurePolicy: "Fail", Rules: rules,
			Service: "opendatahub/" + Service, Source: "modelregistry/config/webhook/webhooks.yaml",
		}
	}
	return []dataflow.Webhook{
		hook("mmodelregistry.opendatahub.io", "mutating", MutatePath),
		hook("vmodelregistry.opendatahub.io", "validating", ValidatePath),
	}
}
