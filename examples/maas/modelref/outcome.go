package modelref

import (
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"

	maasv1alpha1 "github.com/reconcilekit/reconcilekit/examples/maas/api/v1alpha1"
	"github.com/reconcilekit/reconcilekit/examples/maas/backend"
)

const (
	waitingForRoute   = "Waiting for HTTPRoute to be created"
	waitingForBackend = "Waiting for backend to become ready"
)

// outcome sets the status and returns the phase with its reason. What is not
// known blanks its fields.
func (w *world) outcome(status *maasv1alpha1.MaaSModelRefStatus) (maasv1alpha1.ModelPhase, maasv1alpha1.Reason, string) {
	*status = maasv1alpha1.MaaSModelRefStatus{}
	if w.model.Spec == nil {
		return maasv1alpha1.ModelFailed, maasv1alpha1.ReasonReconcileFailed, "spec is required"
	}
	external := w.model.Spec.ModelRef.Kind == maasv1alpha1.BackendExternalModel
	switch {
	case external && w.external.IsNotFound():
		return failed("reconcile HTTPRoute", "ExternalModel %s not found in namespace %s", w.model.Spec.ModelRef.Name, w.model.Namespace)
	case w.route.IsNotFound() && external:
		return pending(waitingForBackend)
	case w.route.IsNotFound():
		return pending(waitingForRoute)
	case w.route.HasError():
		return failed("reconcile HTTPRoute", "%v", w.route.Error)
	}
	if !w.describeRoute(status) {
		return failed("reconcile HTTPRoute", "HTTPRoute %s/%s does not reference gateway %s/%s",
			w.route.Value.Namespace, w.route.Value.Name, w.Gateway.Namespace, w.Gateway.Name)
	}
	if external && !w.accepted() {
		*status = maasv1alpha1.MaaSModelRefStatus{HTTPRouteName: status.HTTPRouteName, HTTPRouteNamespace: status.HTTPRouteNamespace}
		return pending(waitingForBackend)
	}
	if !external {
		switch {
		case w.llm.IsNotFound():
			return failed("update model status", "LLMInferenceService %s/%s not found", w.model.Namespace, w.model.Spec.ModelRef.Name)
		case w.llm.HasError():
			return failed("update model status", "%v", w.llm.Error)
		case !meta.IsStatusConditionTrue(backend.Conditions(w.llm.Value), "Ready"):
			return pending(waitingForBackend)
		}
	}
	endpoint, err := w.endpoint(external)
	if err != nil {
		return failed("update model status", "%v", err)
	}
	status.Endpoint = endpoint
	if override := w.model.Spec.EndpointOverride; override != "" {
		status.Endpoint = override
	}
	return maasv1alpha1.ModelReady, maasv1alpha1.ReasonReconciled, "Successfully reconciled"
}

func pending(message string) (maasv1alpha1.ModelPhase, maasv1alpha1.Reason, string) {
	return maasv1alpha1.ModelPending, maasv1alpha1.ReasonBackendNotReady, message
}

func failed(step, format string, args ...any) (maasv1alpha1.ModelPhase, maasv1alpha1.Reason, string) {
	return maasv1alpha1.ModelFailed, maasv1alpha1.ReasonReconcileFailed, "Failed to " + step + ": " + fmt.Sprintf(format, args...)
}

// describeRoute copies what the route says and reports whether it leads to the
// expected gateway.
func (w *world) describeRoute(status *maasv1alpha1.MaaSModelRefStatus) bool {
	route := w.route.Value
	status.HTTPRouteName, status.HTTPRouteNamespace = route.Name, route.Namespace
	for _, hostname := range route.Spec.Hostnames {
		status.HTTPRouteHostnames = append(status.HTTPRouteHostnames, string(hostname))
	}
	parents := make([]types.NamespacedName, 0, len(route.Spec.ParentRefs))
	for _, ref := range route.Spec.ParentRefs {
		parents = append(parents, parent(ref, route.Namespace))
	}
	found := slices.Contains(parents, w.Gateway)
	if found {
		parents = []types.NamespacedName{w.Gateway}
	}
	if len(parents) > 0 {
		status.HTTPRouteGatewayName, status.HTTPRouteGatewayNamespace = parents[0].Name, parents[0].Namespace
	}
	return found
}

func parent(ref gatewayv1.ParentReference, namespace string) types.NamespacedName {
	if ref.Namespace != nil {
		namespace = string(*ref.Namespace)
	}
	return backend.Key(namespace, string(ref.Name))
}

// accepted reports whether the gateway has taken the route.
func (w *world) accepted() bool {
	route := w.route.Value
	return slices.ContainsFunc(route.Status.Parents, func(p gatewayv1.RouteParentStatus) bool {
		return parent(p.ParentRef, route.Namespace) == w.Gateway &&
			meta.IsStatusConditionTrue(p.Conditions, string(gatewayv1.RouteConditionAccepted))
	})
}

// endpoint is the URL of the model.
func (w *world) endpoint(external bool) (string, error) {
	if external {
		host, err := w.host()
		return "https://" + host + "/" + w.model.Namespace + "/" + w.model.Spec.ModelRef.Name, err
	}
	if url := llmURL(w.llm.Value.Object); url != "" {
		return url, nil
	}
	host, err := w.host()
	return "https://" + host + "/" + w.model.Name, err
}

// llmURL is the address for clients outside: with TLS, else any, else the first
// address at all, else the URL of the service.
func llmURL(object map[string]any) string {
	var llm struct {
		Status struct {
			URL       string `json:"url"`
			Addresses []struct {
				Name string `json:"name"`
				URL  string `json:"url"`
			} `json:"addresses"`
		} `json:"status"`
	}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(object, &llm); err != nil {
		return ""
	}
	var secure, outside, first string
	for _, address := range llm.Status.Addresses {
		keep(&first, address.URL)
		if address.Name == "gateway-external" {
			keep(&outside, address.URL)
			if strings.HasPrefix(address.URL, "https://") {
				keep(&secure, address.URL)
			}
		}
	}
	for _, url := range []string{secure, outside, first, llm.Status.URL} {
		if url != "" {
			return url
		}
	}
	return ""
}

func keep(into *string, value string) {
	if *into == "" {
		*into = value
	}
}

// host is where the gateway serves the route.
func (w *world) host() (string, error) {
	if names := w.route.Value.Spec.Hostnames; len(names) > 0 {
		return string(names[0]), nil
	}
	if w.gateway.HasError() {
		return "", fmt.Errorf("gateway %s: %w", w.Gateway, w.gateway.Error)
	}
	for _, listener := range w.gateway.Value.Spec.Listeners {
		if listener.Hostname != nil && *listener.Hostname != "" {
			return string(*listener.Hostname), nil
		}
	}
	addresses := w.gateway.Value.Status.Addresses
	for _, address := range addresses {
		if address.Type != nil && *address.Type == gatewayv1.HostnameAddressType {
			return address.Value, nil
		}
	}
	if len(addresses) > 0 {
		return addresses[0].Value, nil
	}
	return "", fmt.Errorf("gateway %s has neither a host name nor an address", w.Gateway)
}
