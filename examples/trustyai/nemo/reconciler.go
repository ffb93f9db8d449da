package nemo

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"maps"
	"slices"

	"github.com/reconcilekit/reconcilekit/conditions"
	"github.com/reconcilekit/reconcilekit/reconcile"
	"github.com/reconcilekit/reconcilekit/reconcile/apply"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/reconcilekit/reconcilekit/examples/trustyai/api/foreign"
	"github.com/reconcilekit/reconcilekit/examples/trustyai/api/v1alpha1"
	"github.com/reconcilekit/reconcilekit/examples/trustyai/guardrails"
	"github.com/reconcilekit/reconcilekit/examples/trustyai/images"
	"github.com/reconcilekit/reconcilekit/examples/trustyai/proxy"
)

// Reconciler implements the phases of NemoGuardrails. Create its controller with [New].
type Reconciler struct{ operatorNamespace string }

type rcontext = reconcile.ReconcileContext[*v1alpha1.NemoGuardrails]

// Fetched contains the objects that were read for a server.
type Fetched struct {
	settings reconcile.FetchResult[*corev1.ConfigMap]
	files    map[string]reconcile.FetchResult[*corev1.ConfigMap] // of the namespace, by name
	gateway  gateway
}

// FetchRemoteState reads the inputs of the plan and of the status.
func (r Reconciler) FetchRemoteState(ctx context.Context, reader reconcile.Reader, rc rcontext) (f Fetched) {
	n := rc.Object
	if !n.DeletionTimestamp.IsZero() {
		return f
	}
	named := func(name string) client.ObjectKey { return client.ObjectKey{Namespace: n.Namespace, Name: name} }
	f.settings = reconcile.Fetch(ctx, reader, client.ObjectKey{Namespace: r.operatorNamespace, Name: images.ConfigMap}, &corev1.ConfigMap{})
	f.files = map[string]reconcile.FetchResult[*corev1.ConfigMap]{}
	for _, source := range sourcesOf(n) {
		f.files[source.configMap] = reconcile.Fetch(ctx, reader, named(source.configMap), &corev1.ConfigMap{})
	}
	for _, config := range n.Spec.NemoConfigs {
		for _, name := range config.ConfigMaps {
			f.files[name] = reconcile.Fetch(ctx, reader, named(name), &corev1.ConfigMap{})
		}
	}
	f.gateway = fetchGateway(ctx, reader, n)
	return f
}

// Observation is derived from Fetched.
type Observation struct {
	owner   *v1alpha1.NemoGuardrails
	fetched Fetched
	images  map[string]string
	auth    bool
	waits   string // the missing prerequisite
	unset   error  // why there are no images
}

// ComposeState derives the observation.
func (r Reconciler) ComposeState(_ context.Context, rc rcontext, f Fetched) Observation {
	obs := Observation{owner: rc.Object, fetched: f, auth: proxy.Enabled(rc.Object.Annotations)}
	obs.images, obs.unset = images.Resolve(f.settings, images.Nemo, images.Proxy)
	for _, config := range rc.Object.Spec.NemoConfigs {
		if len(config.ConfigMaps) == 0 {
			obs.waits = "no configmaps provided inside NemoConfig=" + config.Name
		}
		for _, name := range config.ConfigMaps {
			if f.files[name].Value == nil && obs.waits == "" {
				obs.waits = "ConfigMap " + name + " of configuration " + config.Name + " not found"
			}
		}
	}
	if obs.waits == "" {
		obs.waits = badKey(rc.Object)
	}
	return obs
}

// PlanResources returns the children. While a prerequisite is missing the server stays as it is.
func (r Reconciler) PlanResources(_ context.Context, _ rcontext, obs Observation) (plan reconcile.PlanResult, err error) {
	if obs.unset != nil {
		return plan, obs.unset
	}
	n := obs.owner
	guardrails.CABundle(&plan, n)
	if obs.auth {
		guardrails.Account(&plan, n)
		guardrails.Proxy(&plan, n, guardrails.Name(n.Name, "-rbac-proxy-config"), "gateway", obs.sidecar())
	}
	meta := metav1.ObjectMeta{Namespace: n.Namespace, Name: n.Name}
	if obs.waits != "" {
		plan.Keep(&appsv1.Deployment{ObjectMeta: meta})
		plan.Keep(&corev1.Service{ObjectMeta: meta})
		plan.Keep(&foreign.Route{ObjectMeta: meta})
	} else {
		plan.Apply(obs.deployment(), apply.AdoptUncontrolled, apply.Recreate())
		plan.Apply(obs.service(), apply.AdoptUncontrolled)
		guardrails.Route{Name: n.Name, Service: n.Name, Port: n.Name, Termination: proxy.Termination(n.Annotations)}.Apply(&plan, n)
	}
	return plan, obs.fetched.gateway.plan(&plan)
}

func (obs Observation) service() *corev1.Service {
	port := guardrails.Port(obs.owner.Name, 80, 8000)
	if obs.auth {
		port = guardrails.Port(obs.owner.Name, 443, 8443)
	}
	return guardrails.Service(obs.owner, obs.owner.Name, port)
}

func (obs Observation) sidecar() proxy.Sidecar {
	n := obs.owner
	return proxy.Sidecar{
		Name: "kube-rbac-proxy", Image: obs.images[images.Proxy], Port: 8443, HealthPort: 9444,
		Upstream: "http://localhost:8000", FileUpstream: "http://127.0.0.1:8000", UpstreamCA: "/etc/ssl/certs/ca-certificates.crt",
		Namespace: n.Namespace, Service: n.Name,
		Mounts: []corev1.VolumeMount{
			proxy.Mount("tls-certs", "/etc/tls/private"), proxy.Mount("kube-rbac-config", "/etc/kube-rbac-proxy"),
			proxy.Mount(bundle, "/etc/ssl/certs/"),
		},
	}
}

// hash returns the hash of all files of the configurations. A change of it replaces the pods.
func (obs Observation) hash() string {
	sum := sha256.New()
	for _, config := range obs.owner.Spec.NemoConfigs {
		for _, name := range config.ConfigMaps {
			sum.Write([]byte(name))
			data := obs.fetched.files[name].Value.Data
			for _, key := range slices.Sorted(maps.Keys(data)) {
				sum.Write([]byte(key + data[key]))
			}
		}
	}
	return hex.EncodeToString(sum.Sum(nil))
}

// DecorateStatus sets the conditions of the product, and the found gateway and certificates.
func (Reconciler) DecorateStatus(
	status *v1alpha1.NemoGuardrailsStatus, cm *conditions.Manager, _ reconcile.StatusContext[*v1alpha1.NemoGuardrails],
	obs Observation,
) {
	status.CA = obs.authorities()
	status.MCPGateway, status.BBRPlugin = nil, nil
	if obs.waits != "" {
		cm.MarkFalse("ReconcileComplete", "Waiting", conditions.Bound(obs.waits))
		cm.MarkFalse("DeploymentReady", "Waiting", conditions.Bound(obs.waits), conditions.Silent)
		return
	}
	status.MCPGateway, status.BBRPlugin = obs.fetched.gateway.status()
	cm.Delete("ServiceReady") // the product has none
	guardrails.Readiness(cm, "Deployment", true, nil)
	route, _ := cm.Get("RouteReady") // set by the engine, which inspects the children
	if guardrails.Readiness(cm, "Route", route.Status == metav1.ConditionTrue, nil) {
		status.Phase = guardrails.Ready
		cm.MarkTrue("ReconcileComplete", "ReconcileCompleted", "Reconcile completed successfully")
		return
	}
	cm.MarkFalse("ReconcileComplete", "ReconcileFailed", "Reconcile failed")
}
