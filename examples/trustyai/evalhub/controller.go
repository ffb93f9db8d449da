package evalhub

import (
	"net/http"

	"github.com/reconcilekit/reconcilekit/reconcile/apply"
	"github.com/reconcilekit/reconcilekit/reconcile/controller"
	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/manager"

	"github.com/reconcilekit/reconcilekit/examples/trustyai/api/foreign"
	"github.com/reconcilekit/reconcilekit/examples/trustyai/api/v1"
)

// Name is the name of the controller, and the field manager of its children.
const Name = "trustyai-evalhub"

// Finalizer is set on every hub, because a hub has permissions in the cluster and in the namespace of the operator.
const Finalizer = "trustyai.opendatahub.io/evalhub-finalizer"

// Controller is the controller of EvalHub.
type Controller struct {
	*controller.Controller

	// Client sends reports to hubs. By default it trusts the authorities of the system and the cluster.
	Client   *http.Client
	reporter *reporter
}

// New declares the controller of EvalHub. Settings is the ConfigMap of the operator; the catalogue is in the same namespace. Tenants
// decides which hubs a namespace admits.
func New(settings types.NamespacedName, tenants Tenants) *Controller {
	reporter := newReporter()
	reports := reportKind(reporter)
	c := &Controller{reporter: reporter}
	c.Controller = controller.New(Name, Reconciler{settings, reports, tenants}).
		Reads(&v1.EvalHub{}, controller.Index(pairIndex, indexPair)).
		Owns(&corev1.ServiceAccount{}).Owns(&corev1.Service{}).Owns(&corev1.ConfigMap{}).Owns(&appsv1.Deployment{}).Owns(&rbacv1.Role{}).
		Owns(&rbacv1.RoleBinding{}).Owns(&rbacv1.ClusterRoleBinding{}).
		Owns(&foreign.Route{}, controller.Optional).
		Owns(&foreign.ServiceMonitor{}, controller.Optional).
		Reads(&corev1.Namespace{}).
		Reads(&batchv1.Job{}).
		Writes(&batchv1.Job{}).
		Reads(&corev1.Pod{}).
		Reads(&foreign.Workload{}, controller.Optional).
		Writes(&foreign.Workload{}, controller.Optional, controller.FieldsOnly).
		External(reports).
		Transitions(reportings).
		Options(controller.Options{Apply: apply.Options{Finalizer: Finalizer}, Observer: &passes{}}).
		Prepare(c.prepare).Build()
	return c
}

// prepare sets the event recorder of the manager, which announces failed Jobs.
func (c *Controller) prepare(mgr manager.Manager) error {
	if c.Client != nil {
		c.reporter.client = func() *http.Client { return c.Client }
	}
	c.reporter.recorder = mgr.GetEventRecorder(Name)
	return nil
}
