package orchestrator

import (
	"context"

	"github.com/reconcilekit/reconcilekit/reconcile"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/reconcilekit/reconcilekit/examples/trustyai/api/foreign"
	"github.com/reconcilekit/reconcilekit/examples/trustyai/api/v1alpha1"
	"github.com/reconcilekit/reconcilekit/examples/trustyai/guardrails"
	"github.com/reconcilekit/reconcilekit/examples/trustyai/images"
)

type rcontext = reconcile.ReconcileContext[*v1alpha1.GuardrailsOrchestrator]

// Fetched contains the objects that were read for an orchestrator.
type Fetched struct {
	settings, config, gateway   reconcile.FetchResult[*corev1.ConfigMap]
	generated, generatedGateway reconcile.FetchResult[*corev1.ConfigMap]
	models                      reconcile.FetchResult[*foreign.InferenceServiceList]
	runtimes                    reconcile.FetchResult[*foreign.ServingRuntimeList]
	services                    map[string]reconcile.FetchResult[*corev1.Service] // of the models in use, by name
	secrets                     map[string]reconcile.FetchResult[*corev1.Secret]
	routes                      map[string]reconcile.FetchResult[*foreign.Route]
}

// FetchRemoteState reads the inputs of the plan and of the status.
func (r Reconciler) FetchRemoteState(ctx context.Context, reader reconcile.Reader, rc rcontext) (f Fetched) {
	o := rc.Object
	if !o.DeletionTimestamp.IsZero() {
		return f
	}
	named := func(name string) client.ObjectKey { return client.ObjectKey{Namespace: o.Namespace, Name: name} }
	configMap := func(name string) reconcile.FetchResult[*corev1.ConfigMap] {
		return reconcile.Fetch(ctx, reader, named(name), &corev1.ConfigMap{})
	}
	f.settings = reconcile.Fetch(ctx, reader, client.ObjectKey{Namespace: r.operatorNamespace, Name: images.ConfigMap}, &corev1.ConfigMap{})
	f.models = reconcile.FetchList(ctx, reader, &foreign.InferenceServiceList{}, client.InNamespace(o.Namespace))
	f.services, f.secrets = map[string]reconcile.FetchResult[*corev1.Service]{}, map[string]reconcile.FetchResult[*corev1.Secret]{}
	f.routes = map[string]reconcile.FetchResult[*foreign.Route]{}
	if name := ptr.Deref(o.Spec.OrchestratorConfig, ""); name != "" {
		f.config = configMap(name)
	}
	if name := ptr.Deref(o.Spec.GuardrailsGatewayConfig, ""); name != "" {
		f.gateway = configMap(name)
	}
	secret := func(name string) {
		f.secrets[name] = reconcile.Fetch(ctx, reader, named(name), &corev1.Secret{})
	}
	if auto := o.Spec.AutoConfig; auto != nil {
		f.generated = configMap(guardrails.Name(o.Name, "-auto-config"))
		f.generatedGateway = configMap(guardrails.Name(o.Name, "-gateway-auto-config"))
		f.runtimes = reconcile.FetchList(ctx, reader, &foreign.ServingRuntimeList{}, client.InNamespace(o.Namespace))
		for i := range f.models.Value.Items {
			if m := &f.models.Value.Items[i]; counts(m, auto) {
				f.services[m.Name] = reconcile.Fetch(ctx, reader, named(m.Name+"-predictor"), &corev1.Service{})
				secret(certificateOf(m.Name))
			}
		}
	}
	for _, name := range o.Spec.TLSSecrets {
		secret(name)
	}
	for _, route := range routesOf(o) {
		f.routes[route.Name] = reconcile.Fetch(ctx, reader, named(route.Name), &foreign.Route{})
	}
	return f
}

// certificateOf returns the name of the Secret with the serving certificate of a model.
func certificateOf(model string) string { return model + "-predictor-serving-cert" }
