// Package externalmodel reconciles ExternalModel: it makes models of external providers reachable through the gateway.
package externalmodel

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/reconcilekit/reconcilekit/health"
	"github.com/reconcilekit/reconcilekit/reconcile"
	"github.com/reconcilekit/reconcilekit/reconcile/children"
	"github.com/reconcilekit/reconcilekit/reconcile/controller"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/validation"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"

	maasv1alpha1 "github.com/reconcilekit/reconcilekit/examples/maas/api/v1alpha1"
	"github.com/reconcilekit/reconcilekit/examples/maas/models"
)

const (
	portAnnotation = "maas.opendatahub.io/port"
	tlsAnnotation  = "maas.opendatahub.io/tls"
	defaultPort    = 443
	// repair is the delay before a deleted route is recreated. Until then the status reports that the model has no route.
	repair = time.Minute
)

//go:embed templates/*.yaml
var files embed.FS

// Reconciler reconciles ExternalModel.
type Reconciler struct {
	gateway  types.NamespacedName
	children *children.Set[facts]
}

// facts is the input of the templates.
type facts struct {
	Gateway types.NamespacedName
	*maasv1alpha1.ExternalModel
	Port int32
	TLS  bool
}

// declared lists the children. Each has the name of the model.
var declared = []children.Child[facts]{
	{Template: "service.yaml"},
	{Template: "entry.yaml"},
	{Template: "rule.yaml", When: func(f facts) bool { return f.TLS }},
	{Template: "route.yaml"},
}

// New declares the controller of ExternalModel. It returns an error if a template is invalid.
func New(config models.Config) (*controller.Controller, error) {
	set, err := models.Children(files, declared...)
	return controller.New("maas-external-model-reconciler", &Reconciler{config.Gateway, set}).
		Owns(&corev1.Service{}).
		Owns(&gatewayv1.HTTPRoute{}, controller.WithPredicates(predicate.Funcs{DeleteFunc: func(event.DeleteEvent) bool { return false }})).
		Owns(models.Kind(models.ServiceEntry), controller.Optional).
		Owns(models.Kind(models.DestinationRule), controller.Optional).
		Options(models.Options("")).Build(), err
}

// observed is empty, because the plan depends only on the model.
type observed struct{}

// GetComponentHealth returns no components: as in the product, a model is ready when its children are applied.
func (observed) GetComponentHealth(context.Context) []health.Component { return nil }

// FetchRemoteState reads nothing.
func (*Reconciler) FetchRemoteState(context.Context, reconcile.Reader, reconcile.ReconcileContext[*maasv1alpha1.ExternalModel]) observed {
	return observed{}
}

// PlanResources plans the children, and none for an invalid model.
func (r *Reconciler) PlanResources(
	_ context.Context, rc reconcile.ReconcileContext[*maasv1alpha1.ExternalModel], _ observed,
) (reconcile.PlanResult, error) {
	facts, err := read(rc.Object)
	if err != nil {
		return reconcile.PlanResult{RequeueAfter: repair}, health.NewError(health.InvalidSpec, "InvalidSpec", err.Error(), err)
	}
	facts.Gateway = r.gateway
	plan, err := r.children.Plan(facts)
	plan.RequeueAfter = repair
	return plan, err
}

// read returns the settings of the model, or the last error in it.
func read(model *maasv1alpha1.ExternalModel) (f facts, err error) {
	f = facts{ExternalModel: model, Port: defaultPort, TLS: true}
	if model.Spec == nil {
		return f, errors.New("spec is required")
	}
	if wrong := validation.IsDNS1035Label(model.Name); len(wrong) > 0 {
		err = fmt.Errorf("metadata.name %q must be the name of a Service: %s", model.Name, wrong[0])
	}
	if text, ok := model.Annotations[portAnnotation]; ok {
		port, wrong := strconv.ParseInt(text, 10, 32)
		if wrong != nil || len(validation.IsValidPortNum(int(port))) > 0 {
			err = fmt.Errorf("annotation %s=%q must be a port from 1 to 65535", portAnnotation, text)
		}
		f.Port = int32(port)
	}
	if text, ok := model.Annotations[tlsAnnotation]; ok {
		tls, wrong := strconv.ParseBool(text)
		if wrong != nil {
			err = fmt.Errorf("annotation %s=%q must be true or false", tlsAnnotation, text)
		}
		f.TLS = tls
	}
	return f, err
}
