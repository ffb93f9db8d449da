package lmes

import (
	"context"

	"github.com/reconcilekit/reconcilekit/reconcile/apply"
	"github.com/reconcilekit/reconcilekit/reconcile/controller"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/manager"

	"github.com/reconcilekit/reconcilekit/examples/trustyai/api/kueue"
	"github.com/reconcilekit/reconcilekit/examples/trustyai/guardrails"
)

// Name is the name of the controller, and the field manager of its children.
const Name = "trustyai-lm-eval-job"

// Finalizer is set on every job. The pod is deleted before the finalizer is removed.
const Finalizer = guardrails.Domain + "lmes-finalizer"

// Controller is the controller of LMEvalJob.
type Controller struct {
	*controller.Controller

	// Execute runs a command in the main container of a pod, and returns its output. The default uses the API server.
	Execute func(ctx context.Context, namespace, pod string, command ...string) ([]byte, error)
	drivers *drivers
}

// New declares the controller of LMEvalJob. Settings is the ConfigMap of the operator, in its namespace. Managed jobs wait in a
// queue.
func New(settings types.NamespacedName, managed bool) *Controller {
	drivers := &drivers{}
	kind := driverKind(drivers)
	b := controller.New(Name, Reconciler{settings, managed, kind}).
		Owns(&corev1.Pod{}).Owns(&corev1.PersistentVolumeClaim{}).Owns(&corev1.ConfigMap{}).
		External(kind).
		Transitions(transitions).
		Options(controller.Options{Apply: apply.Options{Finalizer: Finalizer}, Observer: counter{}})
	if managed {
		b.Owns(&kueue.Workload{})
	}
	c := &Controller{drivers: drivers}
	c.Controller = b.Prepare(c.prepare).Build()
	return c
}

// prepare sets Execute to the API server of the manager, unless it is set.
func (c *Controller) prepare(mgr manager.Manager) (err error) {
	if c.drivers.run = c.Execute; c.Execute == nil {
		c.drivers.run, err = execute(mgr.GetConfig())
	}
	return err
}

// Grants are the permissions that the declarations do not contain: to run commands in pods.
func Grants() []rbacv1.PolicyRule {
	return []rbacv1.PolicyRule{{APIGroups: []string{""}, Resources: []string{"pods/exec"}, Verbs: []string{"create"}}}
}
