package orchestrator

import (
	"context"
	"fmt"

	"github.com/reconcilekit/reconcilekit/health"
	"github.com/reconcilekit/reconcilekit/layers/podtemplate"
	"github.com/reconcilekit/reconcilekit/reconcile"
	"github.com/reconcilekit/reconcilekit/reconcile/apply"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/reconcilekit/reconcilekit/examples/trustyai/api/v1alpha1"
	"github.com/reconcilekit/reconcilekit/examples/trustyai/guardrails"
	"github.com/reconcilekit/reconcilekit/examples/trustyai/images"
	"github.com/reconcilekit/reconcilekit/examples/trustyai/proxy"
)

// Reconciler implements the phases of GuardrailsOrchestrator. Create its controller with [New].
type Reconciler struct{ operatorNamespace string }

// Observation is derived from Fetched.
type Observation struct {
	owner   *v1alpha1.GuardrailsOrchestrator
	fetched Fetched
	images  map[string]string
	auth    bool
	found   found
	// config and gateway are the mounted ConfigMaps, with their content.
	config, gateway content
	// invalid is the error in the spec, waits the missing prerequisite.
	invalid, waits string
	unset          error // why there are no images
}

// configFile is the key of a configuration in its ConfigMap.
const configFile = "config.yaml"

// content is a configuration.
type content struct {
	name string // of the ConfigMap
	file podtemplate.Config
}

func contentOf(config *corev1.ConfigMap) content {
	return content{name: config.Name, file: podtemplate.ConfigMap(config, configFile)}
}

// ComposeState finds the configurations and the models.
func (r Reconciler) ComposeState(_ context.Context, rc rcontext, f Fetched) Observation {
	o := rc.Object
	obs := Observation{owner: o, fetched: f, auth: proxy.Enabled(o.Annotations), invalid: invalid(&o.Spec)}
	keys := []string{images.Proxy}
	for key, wanted := range map[string]bool{
		images.Orchestrator: !o.Spec.DisableOrchestrator, images.Detectors: o.Spec.EnableBuiltInDetectors,
		images.Gateway: o.Spec.EnableGuardrailsGateway,
	} {
		if wanted {
			keys = append(keys, key)
		}
	}
	obs.images, obs.unset = images.Resolve(f.settings, keys...)
	if obs.invalid != "" || o.Spec.DisableOrchestrator {
		return obs
	}
	if o.Spec.AutoConfig != nil {
		obs.found = discover(o, f)
		obs.waits = obs.found.waits
		obs.config, obs.gateway = contentOf(obs.generatedConfig()), contentOf(obs.generatedGateway())
	}
	obs.given(&obs.config, o.Spec.OrchestratorConfig, f.config)
	obs.given(&obs.gateway, o.Spec.GuardrailsGatewayConfig, f.gateway)
	for _, name := range o.Spec.TLSSecrets {
		if f.secrets[name].Value == nil {
			obs.wait("Secret " + name + " of spec.tlsSecrets not found")
		}
	}
	return obs
}

func (obs *Observation) wait(message string) {
	if obs.waits == "" {
		obs.waits = message
	}
}

// given uses the configuration of a user, which takes precedence over a generated one.
func (obs *Observation) given(c *content, name *string, fetched reconcile.FetchResult[*corev1.ConfigMap]) {
	if ptr.Deref(name, "") == "" {
		return
	}
	*c = content{name: *name}
	if fetched.Value == nil {
		obs.wait("ConfigMap " + *name + " not found")
		return
	}
	c.file = podtemplate.ConfigMap(fetched.Value, configFile)
}

// invalid returns the contradiction in the spec, if any.
func invalid(spec *v1alpha1.GuardrailsOrchestratorSpec) string {
	configured := ptr.Deref(spec.OrchestratorConfig, "") != "" || spec.AutoConfig != nil
	switch {
	case spec.DisableOrchestrator && !spec.EnableBuiltInDetectors:
		return "spec.disableOrchestrator without spec.enableBuiltInDetectors leaves nothing to run"
	case !spec.DisableOrchestrator && !configured:
		return "one of spec.orchestratorConfig and spec.autoConfig is required, unless spec.disableOrchestrator is set"
	case spec.EnableGuardrailsGateway && ptr.Deref(spec.GuardrailsGatewayConfig, "") == "" && spec.AutoConfig == nil:
		return "spec.enableGuardrailsGateway needs spec.guardrailsGatewayConfig or spec.autoConfig"
	}
	return ""
}

// PlanResources returns the children. While a prerequisite is missing the Deployment stays as it is.
func (r Reconciler) PlanResources(_ context.Context, _ rcontext, obs Observation) (plan reconcile.PlanResult, err error) {
	if obs.invalid != "" || obs.unset != nil {
		return plan, obs.unset
	}
	o := obs.owner
	guardrails.Account(&plan, o)
	guardrails.CABundle(&plan, o)
	for _, p := range obs.parts() {
		if obs.auth {
			guardrails.Proxy(&plan, o, p.configMap(o.Name), p.name, obs.sidecar(p))
		}
	}
	plan.Apply(obs.service(), apply.AdoptUncontrolled)
	obs.configure(&plan)
	if obs.waits != "" {
		plan.Keep(&appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: o.Namespace, Name: o.Name}})
	} else {
		plan.Apply(obs.deployment(), apply.AdoptUncontrolled, apply.Recreate())
	}
	for _, route := range routesOf(o) {
		route.Apply(&plan, o)
	}
	if o.Spec.EnableBuiltInDetectors {
		monitor, err := obs.monitor()
		if err != nil {
			return plan, err
		}
		plan.Apply(monitor, apply.AdoptUncontrolled)
	}
	return plan, nil
}

// diverged is a label of a configuration of the gateway that differs from the one that would be generated now.
const diverged = "trustyai/has-diverged-from-auto-config"

func (obs Observation) generatedConfig() *corev1.ConfigMap {
	return generated(obs.owner, "-auto-config", obs.found.config(obs.auth))
}

func (obs Observation) generatedGateway() *corev1.ConfigMap {
	return generated(obs.owner, "-gateway-auto-config", obs.found.gateway())
}

func generated(o *v1alpha1.GuardrailsOrchestrator, suffix, text string) *corev1.ConfigMap {
	return &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{Namespace: o.Namespace, Name: guardrails.Name(o.Name, suffix), Labels: guardrails.Labels(o.Name)},
		Data:       map[string]string{configFile: text},
	}
}

// configure plans the generated configurations. A user may change the one of the gateway after its creation; a label reports the
// change.
func (obs Observation) configure(plan *reconcile.PlanResult) {
	o := obs.owner
	if o.Spec.AutoConfig == nil || o.Spec.DisableOrchestrator {
		return
	}
	config, gateway := obs.generatedConfig(), obs.generatedGateway()
	if obs.found.waits != "" {
		plan.Keep(config)
		plan.Keep(gateway)
		return
	}
	plan.Apply(config, apply.AdoptUncontrolled)
	if o.Spec.EnableGuardrailsGateway {
		if there := obs.fetched.generatedGateway.Value; there != nil && there.Data[configFile] != gateway.Data[configFile] {
			gateway.Labels[diverged] = "true"
		}
		plan.Apply(gateway, apply.AdoptUncontrolled, apply.CreateOnly("data"))
	}
}

// GetComponentHealth reports the error in the spec.
func (obs Observation) GetComponentHealth(context.Context) []health.Component {
	if obs.invalid == "" {
		return nil
	}
	return []health.Component{{Errors: []error{health.NewError(health.InvalidSpec, "InvalidSpec", obs.invalid, nil)}}}
}

func (obs Observation) summary() string {
	n := len(obs.found.names())
	return fmt.Sprintf("Generated AutoConfig with 1 generation services and %d detector services", n)
}
