package tas

import (
	"slices"
	"strings"

	"github.com/reconcilekit/reconcilekit/conditions"
	"github.com/reconcilekit/reconcilekit/reconcile"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/reconcilekit/reconcilekit/examples/trustyai/api/v1"
)

// The conditions in addition to Ready.
const (
	modelsPresent   = "InferenceServicesPresent"
	modelsTaken     = "InferenceServicesTaken"
	volumeAvailable = "PVCAvailable"
	dbAvailable     = "DBAvailable"
	routeAvailable  = "RouteAvailable"
	available       = "Available"
	provisioning    = "ProvisioningSucceeded"
	degraded        = "Degraded"
)

// part is a prerequisite of the service: whether it is met, and the conditions for both cases.
type part struct {
	condition string
	ready     bool
	yes, no   [2]string
}

func (p part) mark(cm *conditions.Manager, opts ...conditions.Option) {
	if p.ready {
		cm.MarkTrue(p.condition, p.yes[0], p.yes[1], opts...)
	} else {
		cm.MarkFalse(p.condition, p.no[0], p.no[1], opts...)
	}
}

// DecorateStatus sets the conditions and the phase of the product.
func (*Reconciler) DecorateStatus(
	status *v1.TrustyAIServiceStatus, cm *conditions.Manager, _ reconcile.StatusContext[*v1.TrustyAIService], obs Observation,
) {
	all := obs.ready()
	obs.markParts(cm, all)
	for _, p := range []part{
		{
			available, all,
			[2]string{"AllComponentsReady", "AllComponentsReady"},
			[2]string{"NotAllComponentsReady", "Not all components available"},
		},
		{
			conditions.Ready, all,
			[2]string{"AllComponentsReady", "All service components are ready"},
			[2]string{"ComponentsNotReady", "Not all service components are ready"},
		},
		{
			provisioning, all,
			[2]string{"ProvisioningComplete", "Service provisioning completed successfully"},
			[2]string{"ProvisioningInProgress", "Service provisioning in progress"},
		},
	} {
		p.mark(cm, obs.announced(p.condition)...)
	}
	switch {
	case all:
		cm.MarkFalse(degraded, "FullyFunctional", "All components are fully functional")
	case obs.running() || obs.serving() || obs.stored():
		cm.MarkTrue(degraded, "PartialFunctionality", "Some components are available but service is not fully functional")
	default:
		cm.MarkTrue(degraded, "NoFunctionality", "No components are available")
	}
	status.Phase, status.Ready = "Not Ready", "False"
	if all {
		status.Phase, status.Ready = "Ready", "True"
	}
}

func (obs Observation) running() bool {
	return deploymentReady(obs.fetched.deployment.Value, obs.fetched.pods.Value)
}

func (obs Observation) serving() bool { return obs.fetched.route.Value.Admitted() }

func (obs Observation) stored() bool {
	return obs.fetched.volume.Value != nil && obs.fetched.volume.Value.Status.Phase == corev1.ClaimBound
}

// ready reports whether all prerequisites of the storage format are met.
func (obs Observation) ready() bool {
	storage := obs.stored()
	if obs.service.Spec.Storage.Format == v1.FormatDatabase {
		storage = anyContainer(obs.fetched.pods.Value, serves)
	}
	return obs.facts.Provisioned && obs.running() && obs.serving() && storage
}

// markParts sets the conditions of the prerequisites.
func (obs Observation) markParts(cm *conditions.Manager, all bool) {
	f := obs.fetched
	present := f.models.Value != nil && len(f.models.Value.Items) > 0
	part{
		modelsPresent, present,
		[2]string{"InferenceServicesFound", "InferenceServices found"},
		[2]string{"InferenceServicesNotFound", "InferenceServices not found"},
	}.
		mark(cm, obs.announced(modelsPresent)...)
	if len(obs.models.taken) > 0 {
		cm.MarkTrue(
			modelsTaken, "SetByAnother", conditions.Bound("Traffic goes elsewhere: "+strings.Join(obs.models.taken, ", ")),
			conditions.AsWarning,
		)
	} else {
		cm.Delete(modelsTaken)
	}
	if needsVolume(&obs.service.Spec) {
		missing := [2]string{"PVCNotFound", "PersistentVolumeClaim not found"}
		if obs.badVolume != "" {
			missing = [2]string{"InvalidSize", obs.badVolume}
		}
		part{
			volumeAvailable, obs.stored(), [2]string{"PVCFound", "PersistentVolumeClaim found"}, missing,
		}.mark(cm, obs.announced(volumeAvailable)...)
	} else {
		cm.Delete(volumeAvailable)
	}
	if obs.service.Spec.Storage.Format == v1.FormatDatabase {
		missing := obs.badDatabase
		if missing[0] == "" {
			missing = [2]string{"DBConnectionError", "Error connecting to database"}
		}
		part{dbAvailable, all, [2]string{"DBAvailable", "Database available"}, missing}.mark(cm)
	} else {
		cm.Delete(dbAvailable)
	}
	part{routeAvailable, obs.serving(), [2]string{"RouteFound", "Route found"}, [2]string{"RouteNotFound", "Route not found"}}.mark(cm)
}

// announced returns the product's event for a condition, which is emitted when the condition changes.
func (obs Observation) announced(condition string) []conditions.Option {
	event := func(reason conditions.EventReason, message conditions.EventMessage) []conditions.Option {
		return []conditions.Option{reason, message}
	}
	switch {
	case condition == volumeAvailable && obs.badVolume == "" && obs.fetched.volume.Value == nil:
		return event("PVCCreated", "PVC created")
	case condition == provisioning && obs.facts.Provisioned && !obs.ready():
		return event("ServiceMonitorCreated", "Local ServiceMonitor created")
	case condition == modelsPresent && obs.models.kserve:
		return event("InferenceServiceConfigured", "KServe InferenceService configured")
	case condition == modelsPresent && obs.models.mesh:
		return event("InferenceServiceConfigured", "ModelMesh InferenceService configured")
	}
	return nil
}

// deploymentReady reports whether the Deployment is available with all its replicas, and none of its pods crashes.
func deploymentReady(d *appsv1.Deployment, pods *corev1.PodList) bool {
	if d == nil || d.Spec.Replicas == nil || d.Status.ReadyReplicas != *d.Spec.Replicas {
		return false
	}
	return !anyContainer(pods, crashes) && slices.ContainsFunc(d.Status.Conditions, func(c appsv1.DeploymentCondition) bool {
		return c.Type == appsv1.DeploymentAvailable && c.Status == corev1.ConditionTrue
	})
}

func anyContainer(pods *corev1.PodList, is func(c corev1.ContainerStatus) bool) bool {
	return slices.ContainsFunc(pods.Items, func(p corev1.Pod) bool { return slices.ContainsFunc(p.Status.ContainerStatuses, is) })
}

func crashes(c corev1.ContainerStatus) bool {
	waiting, ended := c.State.Waiting, c.State.Terminated
	return waiting != nil && waiting.Reason == "CrashLoopBackOff" || ended != nil && ended.ExitCode != 0
}

func serves(c corev1.ContainerStatus) bool { return c.Name == server && c.State.Running != nil }
