package registry

import (
	"slices"
	"strings"
	"time"

	"github.com/reconcilekit/reconcilekit/conditions"
	"github.com/reconcilekit/reconcilekit/defaulting"
	"github.com/reconcilekit/reconcilekit/health"
	"github.com/reconcilekit/reconcilekit/health/inspect"
	"github.com/reconcilekit/reconcilekit/reconcile"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"

	"github.com/reconcilekit/reconcilekit/examples/modelregistry/api/v1beta1"
)

// The conditions of a registry.
const (
	conditionAvailable   = "Available"
	conditionProgressing = "Progressing"
	conditionProxy       = "KubeRBACProxyAvailable"
	conditionDegraded    = "Degraded"
)

// availability checks the server and then its proxy. A failure of the proxy is a failure of the registry.
func (obs *Observation) availability(now time.Time) {
	gates := inspect.Availability{
		Deployment: obs.deployment.Value, Pods: obs.pods.Value.Items, EndpointsErr: obs.endpoints.Error, MinAge: 5 * time.Second, Now: now,
	}
	if obs.endpoints.OK() {
		for _, subset := range obs.endpoints.Value.Subsets {
			gates.Endpoints += len(subset.Addresses)
		}
	}
	obs.server, obs.requeueAfter = gates.Component()
	// A change of the spec since the last status is reported once; the next reconciliation resets it.
	last := meta.FindStatusCondition(obs.registry.Status.Conditions, conditionProgressing)
	if obs.updating = last != nil && last.ObservedGeneration < obs.registry.Generation; obs.updating {
		obs.requeueAfter = time.Millisecond
	}
	obs.proxy = obs.proxyHealth()
	if obs.facts.Proxy != nil && obs.server.GetState() == health.Ready && obs.proxy.GetState() != health.Ready {
		obs.server = obs.proxy
	}
	obs.server.Name, obs.server.Dependency, obs.server.Child = "Server", health.Downstream, true
}

// proxyHealth returns the health of the proxy.
func (obs *Observation) proxyHealth() health.Component {
	c := health.Component{State: health.NotAvailable, Reason: "ResourcesUnavailable"}
	pods, name := obs.pods.Value.Items, obs.facts.Name
	other := slices.IndexFunc(pods, func(pod corev1.Pod) bool { return len(pod.Spec.Containers) != 2 })
	admitted, why := obs.route.Value.Admitted()
	switch {
	case obs.server.GetState() != health.Ready:
		c.Message = obs.server.GetMessage()
	case len(pods) == 0:
		c.Message = "No Pods found for Deployment " + name
	case other >= 0:
		c.Message = "kube-rbac-proxy proxy unavailable in Pod " + pods[other].Name
	case obs.facts.OpenShift && obs.facts.published() && !admitted:
		c.Message = "KubeRBACProxy Route " + name + "-https is unavailable: " + why
	default:
		c = health.Component{State: health.Ready, Reason: "ResourcesAvailable", Message: "kube-rbac-proxy was successfully created"}
	}
	return c
}

// DecorateDeletion reports that the registry is being deleted.
func (*Reconciler) DecorateDeletion(_ *v1beta1.ModelRegistryStatus, cm *conditions.Manager, m *v1beta1.ModelRegistry) {
	cm.MarkTrue(conditionDegraded, "Finalizing", "Finalizer operations for custom resource "+m.Name+" were successfully accomplished",
		conditions.AsWarning, conditions.EventReason("Deleting"),
		conditions.EventMessage("Custom Resource "+m.Name+" is being deleted from the namespace "+m.Namespace))
}

// DecorateStatus sets the status fields and conditions of the product.
func (*Reconciler) DecorateStatus(
	status *v1beta1.ModelRegistryStatus, cm *conditions.Manager, _ reconcile.StatusContext[*v1beta1.ModelRegistry],
	obs Observation,
) {
	if obs.invalid != nil {
		cm.MarkFalse(conditionAvailable, "InvalidSpec", obs.invalid.Message, conditions.Silent)
		return
	}
	status.Hosts = obs.facts.hosts()
	status.HostsStr = strings.Join(status.Hosts, ",")
	status.SpecDefaults, _ = defaulting.Difference(&obs.registry.Spec, obs.facts.Spec) // a spec that was read can be written
	obs.progress(cm)
	mark := func(conditionType string, c health.Component) {
		cm.Set(conditionType, conditions.Status(c.GetState() == health.Ready), c.GetReason(), c.GetMessage(), conditions.Silent)
	}
	mark(conditionAvailable, obs.server)
	mark(conditionProxy, obs.proxy)
	if obs.facts.Proxy == nil {
		cm.Delete(conditionProxy)
	}
	cm.Delete("OAuthProxyAvailable")
}

// progress reports the creation and update of children, with the events of the product.
func (obs Observation) progress(cm *conditions.Manager) {
	made := " service for custom resource " + obs.registry.Name + " in namespace " + obs.registry.Namespace
	switch {
	case !obs.deployment.OK():
		cm.MarkTrue(conditionProgressing, "CreatingDeployment", "Creating deployment",
			conditions.EventReason("ServiceCreated"), conditions.EventMessage("Created"+made))
	case obs.updating:
		cm.MarkTrue(conditionProgressing, "UpdatingDeployment", "Updating deployment",
			conditions.EventReason("ServiceUpdated"), conditions.EventMessage("Updated"+made))
	default:
		cm.MarkFalse(conditionProgressing, "CreatedDeployment", "Deployment was successfully created", conditions.Silent)
	}
}

// hosts are the hostnames of the registry, external ones first.
func (f facts) hosts() []string {
	inside := f.Name + "." + f.Namespace
	hosts := []string{f.Host, inside + ".svc.cluster.local", inside, f.Name}
	return slices.DeleteFunc(hosts, func(host string) bool { return host == "" })
}
