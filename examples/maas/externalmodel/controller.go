// Package externalmodel makes models of external providers reachable through
// the gateway.
package externalmodel

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/reconcilekit/reconcilekit/health"
	"github.com/reconcilekit/reconcilekit/reconcile"
	"github.com/reconcilekit/reconcilekit/reconcile/controller"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/util/validation"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"

	maasv1alpha1 "github.com/reconcilekit/reconcilekit/examples/maas/api/v1alpha1"
	"github.com/reconcilekit/reconcilekit/examples/maas/backend"
)

const (
	portAnnotation = "maas.opendatahub.io/port"
	tlsAnnotation  = "maas.opendatahub.io/tls"
	defaultPort    = 443
	// repair is how soon a route that was deleted by hand is made anew. Until
	// then the model shows that it has none.
	repair = time.Minute
)

// Reconciler of ExternalModel.
type Reconciler struct{ backend.Config }

type fetched struct{}

// observation is where the provider listens; err says what is wrong with the
// spec.
type observation struct {
	port int32
	tls  bool
	err  error
}

// New declares the controller of ExternalModel.
func New(config backend.Config) *controller.Builder[*maasv1alpha1.ExternalModel, fetched, observation] {
	return controller.New("maas-external-model-reconciler", &Reconciler{config}).
		Owns(&corev1.Service{}).
		Owns(&gatewayv1.HTTPRoute{}, controller.WithPredicates(predicate.Funcs{DeleteFunc: func(event.DeleteEvent) bool { return false }})).
		Owns(backend.Kind(backend.ServiceEntry), controller.Optional).
		Owns(backend.Kind(backend.DestinationRule), controller.Optional).
		Options(backend.Options(""))
}

// FetchRemoteState reads nothing.
func (*Reconciler) FetchRemoteState(context.Context, reconcile.Reader, reconcile.ReconcileContext[*maasv1alpha1.ExternalModel]) fetched {
	return fetched{}
}

// ComposeState reads the annotations.
func (*Reconciler) ComposeState(
	_ context.Context, rc reconcile.ReconcileContext[*maasv1alpha1.ExternalModel], _ fetched,
) observation {
	o := observation{port: defaultPort, tls: true}
	model := rc.Object
	if model.Spec == nil {
		o.err = errors.New("spec is required")
		return o
	}
	if wrong := validation.IsDNS1035Label(model.Name); len(wrong) > 0 {
		o.err = fmt.Errorf("metadata.name %q must be the name of a Service: %s", model.Name, wrong[0])
	}
	if text, ok := model.Annotations[portAnnotation]; ok {
		port, err := strconv.ParseInt(text, 10, 32)
		if err != nil || len(validation.IsValidPortNum(int(port))) > 0 {
			o.err = fmt.Errorf("annotation %s=%q must be a port from 1 to 65535", portAnnotation, text)
		}
		o.port = int32(port)
	}
	if text, ok := model.Annotations[tlsAnnotation]; ok {
		tls, err := strconv.ParseBool(text)
		if err != nil {
			o.err = fmt.Errorf("annotation %s=%q must be true or false", tlsAnnotation, text)
		}
		o.tls = tls
	}
	return o
}

// GetComponentHealth reports what is wrong with the spec.
func (o observation) GetComponentHealth(context.Context) []health.Component {
	if o.err == nil {
		return nil
	}
	return []health.Component{{Errors: []error{health.NewError(health.InvalidSpec, "InvalidSpec", o.err.Error(), o.err)}}}
}

// PlanResources plans the children, all of the name of the model.
func (r *Reconciler) PlanResources(
	_ context.Context, rc reconcile.ReconcileContext[*maasv1alpha1.ExternalModel], o observation,
) (reconcile.PlanResult, error) {
	plan := reconcile.PlanResult{RequeueAfter: repair}
	if o.err != nil {
		return plan, nil //nolint:nilerr // the component says it
	}
	model, key := rc.Object, backend.Key(rc.Object.Namespace, rc.Object.Name)
	labels := map[string]string{backend.ManagedBy: "maas-external-model-reconciler", "maas.opendatahub.io/external-model": model.Name}
	meta := metav1.ObjectMeta{Namespace: key.Namespace, Name: key.Name, Labels: labels}
	plan.Apply(&corev1.Service{ObjectMeta: meta, Spec: corev1.ServiceSpec{
		Type: corev1.ServiceTypeExternalName, ExternalName: model.Spec.Endpoint,
		Ports: []corev1.ServicePort{{Port: o.port, TargetPort: intstr.FromInt32(o.port)}},
	}})
	name, protocol := "http", "HTTP"
	if o.tls {
		name, protocol = "https", "HTTPS"
		plan.Apply(backend.New(backend.DestinationRule, key, labels, map[string]any{
			"host": model.Spec.Endpoint, "trafficPolicy": map[string]any{"tls": map[string]any{"mode": "SIMPLE"}},
		}))
	}
	plan.Apply(backend.New(backend.ServiceEntry, key, labels, map[string]any{
		"hosts": []any{model.Spec.Endpoint}, "location": "MESH_EXTERNAL", "resolution": "DNS",
		"ports": []any{map[string]any{"number": int64(o.port), "name": name, "protocol": protocol}},
	}))
	plan.Apply(&gatewayv1.HTTPRoute{ObjectMeta: meta, Spec: r.route(model, o.port)})
	return plan, nil
}

// route leads both the path of the model and its name in a header to the
// provider, with the host name that the provider's certificate has.
func (r *Reconciler) route(model *maasv1alpha1.ExternalModel, port int32) gatewayv1.HTTPRouteSpec {
	namespace, timeout := gatewayv1.Namespace(r.Gateway.Namespace), gatewayv1.Duration("300s")
	prefix, path := gatewayv1.PathMatchPathPrefix, "/"+model.Namespace+"/"+model.Name
	exact := gatewayv1.HeaderMatchExact
	matches := []gatewayv1.HTTPRouteMatch{
		{Path: &gatewayv1.HTTPPathMatch{Type: &prefix, Value: &path}},
		{Headers: []gatewayv1.HTTPHeaderMatch{{Type: &exact, Name: "X-Gateway-Model-Name", Value: model.Spec.TargetModel}}},
	}
	spec := gatewayv1.HTTPRouteSpec{CommonRouteSpec: gatewayv1.CommonRouteSpec{
		ParentRefs: []gatewayv1.ParentReference{{Name: gatewayv1.ObjectName(r.Gateway.Name), Namespace: &namespace}},
	}}
	for _, match := range matches {
		spec.Rules = append(spec.Rules, gatewayv1.HTTPRouteRule{
			Matches: []gatewayv1.HTTPRouteMatch{match},
			BackendRefs: []gatewayv1.HTTPBackendRef{{BackendRef: gatewayv1.BackendRef{BackendObjectReference: gatewayv1.BackendObjectReference{
				Name: gatewayv1.ObjectName(model.Name), Port: &port,
			}}}},
			Filters: []gatewayv1.HTTPRouteFilter{{
				Type:                  gatewayv1.HTTPRouteFilterRequestHeaderModifier,
				RequestHeaderModifier: &gatewayv1.HTTPHeaderFilter{Set: []gatewayv1.HTTPHeader{{Name: "Host", Value: model.Spec.Endpoint}}},
			}},
			Timeouts: &gatewayv1.HTTPRouteTimeouts{Request: &timeout},
		})
	}
	return spec
}
