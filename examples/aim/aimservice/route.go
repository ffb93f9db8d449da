package aimservice

import (
	"github.com/reconcilekit/reconcilekit/routing"
	"github.com/reconcilekit/reconcilekit/routing/claims"
	"github.com/reconcilekit/reconcilekit/routing/pathtemplate"
	"k8s.io/utils/ptr"
	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"

	aimv1alpha1 "github.com/reconcilekit/reconcilekit/examples/aim/api/v1alpha1"
)

// MaxRoutePathLength is the maximum length of a route's path, in bytes.
const MaxRoutePathLength = pathtemplate.DefaultMaxBytes

// paths caches compiled path templates.
var paths pathtemplate.Cache

// ownPath are the options for the path of a service's route. Unlike [ResolveServiceRoutePath] they refuse "/", which matches every
// request.
var ownPath = pathtemplate.Options{Cache: &paths}

// DefaultRoutePath returns the path of a service without a template:
// /{namespace}/{uid}.
func DefaultRoutePath(service *aimv1alpha1.AIMService) string {
	path, _ := pathtemplate.Default(service, pathtemplate.Options{AllowRoot: true})
	return path
}

// ResolveServiceRoutePath renders the path of a service from its own template, else from that of the runtime config, which may be nil,
// else [DefaultRoutePath]. An explicitly empty template selects the default. Errors have the category InvalidSpec and name the template
// and the mistake.
func ResolveServiceRoutePath(service *aimv1alpha1.AIMService, runtimeConfig *aimv1alpha1.AIMRuntimeConfigCommon) (string, error) {
	return routingOf(service, runtimeConfig).Path(service, pathtemplate.Options{AllowRoot: true, Cache: &paths})
}

// ResolveServiceRouteTimeout returns the request timeout of a service as a Gateway API duration: its own, including an explicit 0s,
// else that of the runtime config, else nil. It also returns nil for a timeout that the Gateway API cannot express; the plan of the
// route reports the error.
func ResolveServiceRouteTimeout(service *aimv1alpha1.AIMService, runtimeConfig *aimv1alpha1.AIMRuntimeConfigCommon) *string {
	timeout, _ := routingOf(service, runtimeConfig).RequestTimeout()
	return (*string)(timeout)
}

// routingOf merges the routing of a service with that of the runtime config. The service takes precedence.
func routingOf(service *aimv1alpha1.AIMService, config *aimv1alpha1.AIMRuntimeConfigCommon) routing.Settings {
	below := ptr.Deref(config, aimv1alpha1.AIMRuntimeConfigCommon{})
	return routing.Resolve(layerOf("spec.routing", service.Spec.Routing), layerOf("the runtime config", below.Routing))
}

func layerOf(name string, optional *aimv1alpha1.AIMRuntimeRoutingConfig) routing.Layer {
	config := ptr.Deref(optional, aimv1alpha1.AIMRuntimeRoutingConfig{})
	return routing.Layer{
		Name: name, Enabled: config.Enabled, PathTemplate: config.PathTemplate, Timeout: config.RequestTimeout,
		Gateway: config.GatewayRef, Annotations: config.Annotations,
	}
}

// httpRoute builds the route from a service to its predictor, or returns nil if routing is off.
func httpRoute(service *aimv1alpha1.AIMService, config *aimv1alpha1.AIMRuntimeConfigCommon, isvcName string) (*gatewayv1.HTTPRoute, error) {
	return routingOf(service, config).HTTPRoute(service, ownPath, routing.Route{
		Name:   routeName(service),
		Labels: childLabels(service, config, map[string]string{managedByLabel: product, componentLabel: "routing"}),
		Rules: []routing.Rule{{
			ReplacePrefix: new("/"),
			Backends:      []routing.Backend{{Kind: "Service", Name: isvcName + predictorSuffix, Namespace: service.Namespace, Port: 80}},
		}},
	})
}

// routeClaims returns the index values of a route: each path of each rule on each parent.
func routeClaims(route *gatewayv1.HTTPRoute) []string {
	var keys []string
	for _, claim := range claims.Of(route, route) {
		keys = append(keys, claimKey(claim.Parent, claim.Path))
	}
	return keys
}

// claimKey returns the index value of a path on a parent.
func claimKey(parent claims.Parent, path string) string { return parent.String() + " " + path }

// askedFor returns the index value of the path and gateway that a service requests. It returns false if the service requests no
// valid route.
func askedFor(service *aimv1alpha1.AIMService, settings routing.Settings) (key string, ok bool) {
	gateway, err := settings.Parent()
	if gateway == nil || err != nil {
		return "", false
	}
	path, err := settings.Path(service, ownPath)
	return claimKey(claims.Parent{
		Kind: string(ptr.Deref(gateway.Kind, "")), Name: string(gateway.Name),
		Namespace: string(ptr.Deref(gateway.Namespace, gatewayv1.Namespace(service.Namespace))),
	}, path), err == nil
}
