package registry

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/reconcilekit/reconcilekit/conditions"
	"github.com/reconcilekit/reconcilekit/defaulting"
	"github.com/reconcilekit/reconcilekit/health"
	"github.com/reconcilekit/reconcilekit/health/inspect"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/reconcilekit/reconcilekit/examples/modelregistry/api/v1beta1"
)

// The conditions of a registry.
const (
	conditionAvailable   = "Available"
	conditionProgressing = "Progressing"
	conditionProxy       = "KubeRBACProxyAvailable"
	conditionDegraded    = "Degraded"

	reasonResources  = "ResourcesUnavailable"
	reasonFinalizing = "Finalizing"
)

// cooldown is how long the server must have been available before it is called so.
const cooldown = 5 * time.Second

// updates reports whether the spec has changed since the status was written. That is told once, and the next pass takes it back.
func updates(m *v1beta1.ModelRegistry) bool {
	last := meta.FindStatusCondition(m.Status.Conditions, conditionProgressing)
	return last != nil && last.ObservedGeneration < m.Generation
}

// availability looks at the server and, behind it, at the proxy. The proxy's failure is the registry's, too.
func (obs *Observation) availability(f Fetched, now time.Time) {
	gates := inspect.Availability{
		Deployment: f.deployment.Value, Pods: f.pods.Value.Items, EndpointsErr: f.endpoints.Error, MinAge: cooldown, Now: now,
	}
	if f.endpoints.OK() {
		for _, subset := range f.endpoints.Value.Subsets {
			gates.Endpoints += len(subset.Addresses)
		}
	}
	obs.server, obs.look = gates.Component()
	if obs.updating {
		obs.look = time.Millisecond
	}
	if obs.facts.Proxy != nil {
		obs.proxy = health.Component{State: health.NotAvailable, Reason: reasonResources, Message: obs.server.GetMessage()}
		if obs.server.GetState() == health.Ready {
			obs.proxy = obs.proxyHealth(f)
		}
		if obs.server.GetState() == health.Ready && obs.proxy.GetState() != health.Ready {
			obs.server = obs.proxy
		}
	}
	obs.server.Name, obs.server.Dependency, obs.server.Child = "Server", health.Downstream, true
}

func (obs *Observation) proxyHealth(f Fetched) health.Component {
	failure := func(format string, args ...any) health.Component {
		return health.Component{State: health.NotAvailable, Reason: reasonResources, Message: fmt.Sprintf(format, args...)}
	}
	if len(f.pods.Value.Items) == 0 {
		return failure("No Pods found for Deployment %s", obs.facts.Name)
	}
	for i := range f.pods.Value.Items {
		if pod := &f.pods.Value.Items[i]; len(pod.Spec.Containers) != 2 {
			return failure("kube-rbac-proxy proxy unavailable in Pod %s", pod.Name)
		}
	}
	if obs.facts.OpenShift && obs.facts.published() {
		if admitted, why := f.route.Value.Admitted(); !admitted {
			return failure("KubeRBACProxy Route %s-https is unavailable: %s", obs.facts.Name, why)
		}
	}
	return health.Component{State: health.Ready, Reason: "ResourcesAvailable", Message: "kube-rbac-proxy was successfully created"}
}

// DecorateDeletion reports that the registry is being deleted.
func (*Reconciler) DecorateDeletion(_ *v1beta1.ModelRegistryStatus, cm *conditions.Manager, m *v1beta1.ModelRegistry) {
	cm.Set(conditionDegraded, metav1.ConditionTrue, reasonFinalizing,
		"Finalizer operations for custom resource "+m.Name+" were successfully accomplished", conditions.AsWarning,
		conditions.EventReason("Deleting"),
		conditions.EventMessage(fmt.Sprintf("Custom Resource %s is being deleted from the namespace %s", m.Name, m.Namespace)))
}

// DecorateStatus sets the status fields and conditions of the product.
func (*Reconciler) DecorateStatus(status *v1beta1.ModelRegistryStatus, cm *conditions.Manager, obs Observation) {
	if obs.invalid != nil {
		cm.MarkFalse(conditionAvailable, "InvalidSpec", obs.invalid.Error(), conditions.Silent)
		return
	}
	status.Hosts = obs.hosts()
	status.HostsStr = strings.Join(status.Hosts, ",")
	if text, err := defaulting.Difference(obs.registry.Spec, obs.facts.Spec); err == nil {
		status.SpecDefaults = text
	}
	obs.progress(cm)
	mark(cm, conditionAvailable, obs.server)
	if obs.facts.Proxy != nil {
		mark(cm, conditionProxy, obs.proxy)
	} else {
		cm.Delete(conditionProxy)
	}
	cm.Delete("OAuthProxyAvailable")
}

func mark(cm *conditions.Manager, conditionType string, c health.Component) {
	status, reason := metav1.ConditionFalse, c.GetReason()
	if c.GetState() == health.Ready {
		status = metav1.ConditionTrue
	} else if c.GetState() == health.Progressing {
		reason = inspect.ReasonUnavailable
	}
	cm.Set(conditionType, status, reason, c.GetMessage(), conditions.Silent)
}

// progress tells of children that are being made or changed, with the product's events.
func (obs Observation) progress(cm *conditions.Manager) {
	message := func(word string) conditions.EventMessage {
		return conditions.EventMessage(word + " service for custom resource " + obs.registry.Name + " in namespace " + obs.registry.Namespace)
	}
	switch {
	case !obs.deployed:
		cm.MarkTrue(conditionProgressing, "CreatingDeployment", "Creating deployment", conditions.EventReason("ServiceCreated"), message("Created"))
	case obs.updating:
		cm.MarkTrue(conditionProgressing, "UpdatingDeployment", "Updating deployment", conditions.EventReason("ServiceUpdated"), message("Updated"))
	default:
		cm.MarkFalse(conditionProgressing, "CreatedDeployment", "Deployment was successfully created", conditions.Silent)
	}
}

// hosts are the names under which the registry is reached, from outside first.
func (obs Observation) hosts() []string {
	inside := obs.facts.Name + "." + obs.facts.Namespace
	hosts := []string{obs.facts.Host, inside + ".svc.cluster.local", inside, obs.facts.Name}
	return slices.DeleteFunc(hosts, func(host string) bool { return host == "" })
}
