package modelref

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"

	maasv1alpha1 "github.com/reconcilekit/reconcilekit/examples/maas/api/v1alpha1"
	"github.com/reconcilekit/reconcilekit/examples/maas/models"
)

const (
	waitingForRoute   = "Waiting for HTTPRoute to be created"
	waitingForBackend = "Waiting for backend to become ready"
)

// outcome sets the status and returns the phase with its reason. It clears fields whose value is unknown.
func (obs *observation) outcome(status *maasv1alpha1.MaaSModelRefStatus) (maasv1alpha1.ModelPhase, maasv1alpha1.Reason, string) {
	*status = maasv1alpha1.MaaSModelRefStatus{}
	if obs.model.Spec == nil {
		return maasv1alpha1.ModelFailed, maasv1alpha1.ReasonReconcileFailed, "spec is required"
	}
	external := obs.model.Spec.ModelRef.Kind == maasv1alpha1.BackendExternalModel
	switch {
	case external && obs.external.IsNotFound():
		return failed("reconcile HTTPRoute", "ExternalModel %s not found in namespace %s", obs.model.Spec.ModelRef.Name, obs.model.Namespace)
	case obs.route.IsNotFound() && external:
		return pending(waitingForBackend)
	case obs.route.IsNotFound():
		return pending(waitingForRoute)
	case obs.route.HasError():
		return failed("reconcile HTTPRoute", "%v", obs.route.Error)
	case !obs.describeRoute(status):
		return failed("reconcile HTTPRoute", "HTTPRoute %s/%s does not reference gateway %s/%s",
			obs.route.Value.Namespace, obs.route.Value.Name, obs.Gateway.Namespace, obs.Gateway.Name)
	case external && !obs.accepted():
		*status = maasv1alpha1.MaaSModelRefStatus{HTTPRouteName: status.HTTPRouteName, HTTPRouteNamespace: status.HTTPRouteNamespace}
		return pending(waitingForBackend)
	case external:
	case obs.llm.IsNotFound():
		return failed("update model status", "LLMInferenceService %s/%s not found", obs.model.Namespace, obs.model.Spec.ModelRef.Name)
	case obs.llm.HasError():
		return failed("update model status", "%v", obs.llm.Error)
	case !meta.IsStatusConditionTrue(obs.llmStatus().Conditions, "Ready"):
		return pending(waitingForBackend)
	}
	endpoint, err := obs.endpoint(external)
	if err != nil {
		return failed("update model status", "%v", err)
	}
	status.Endpoint = cmp.Or(obs.model.Spec.EndpointOverride, endpoint)
	return maasv1alpha1.ModelReady, maasv1alpha1.ReasonReconciled, "Successfully reconciled"
}

func pending(message string) (maasv1alpha1.ModelPhase, maasv1alpha1.Reason, string) {
	return maasv1alpha1.ModelPending, maasv1alpha1.ReasonBackendNotReady, message
}

func failed(step, format string, args ...any) (maasv1alpha1.ModelPhase, maasv1alpha1.Reason, string) {
	return maasv1alpha1.ModelFailed, maasv1alpha1.ReasonReconcileFailed, "Failed to " + step + ": " + fmt.Sprintf(format, args...)
}

// describeRoute copies fields of the route and reports whether the route refers to the expected gateway.
func (obs *observation) describeRoute(status *maasv1alpha1.MaaSModelRefStatus) bool {
	route := obs.route.Value
	status.HTTPRouteName, status.HTTPRouteNamespace = route.Name, route.Namespace
	for _, hostname := range route.Spec.Hostnames {
		status.HTTPRouteHostnames = append(status.HTTPRouteHostnames, string(hostname))
	}
	parents := make([]types.NamespacedName, 0, len(route.Spec.ParentRefs))
	for _, ref := range route.Spec.ParentRefs {
		parents = append(parents, parent(ref, route.Namespace))
	}
	if len(parents) > 0 {
		gateway := parents[max(0, slices.Index(parents, obs.Gateway))]
		status.HTTPRouteGatewayName, status.HTTPRouteGatewayNamespace = gateway.Name, gateway.Namespace
	}
	return slices.Contains(parents, obs.Gateway)
}

func parent(ref gatewayv1.ParentReference, namespace string) types.NamespacedName {
	return models.Key(string(ptr.Deref(ref.Namespace, gatewayv1.Namespace(namespace))), string(ref.Name))
}

// accepted reports whether the gateway has accepted the route.
func (obs *observation) accepted() bool {
	route := obs.route.Value
	return slices.ContainsFunc(route.Status.Parents, func(p gatewayv1.RouteParentStatus) bool {
		return parent(p.ParentRef, route.Namespace) == obs.Gateway &&
			meta.IsStatusConditionTrue(p.Conditions, string(gatewayv1.RouteConditionAccepted))
	})
}

// endpoint returns the URL of the model.
func (obs *observation) endpoint(external bool) (string, error) {
	path := obs.model.Name
	if external {
		path = obs.model.Namespace + "/" + obs.model.Spec.ModelRef.Name
	} else if url := obs.llmStatus().address(); url != "" {
		return url, nil
	}
	host, err := obs.host()
	return "https://" + host + "/" + path, err
}

func (obs *observation) llmStatus() llmStatus { return models.Status[llmStatus](obs.llm.Value) }

// llmStatus contains the fields that the operator reads of an LLMInferenceService.
type llmStatus struct {
	Conditions []metav1.Condition `json:"conditions"`
	URL        string             `json:"url"`
	Addresses  []struct {
		Name string `json:"name"`
		URL  string `json:"url"`
	} `json:"addresses"`
}

// address returns the external address with TLS, else the external address, else the first address, else the URL of the service.
func (s llmStatus) address() string {
	var secure, outside, first string
	for _, address := range s.Addresses {
		first = cmp.Or(first, address.URL)
		if address.Name == "gateway-external" {
			outside = cmp.Or(outside, address.URL)
			if strings.HasPrefix(address.URL, "https://") {
				secure = cmp.Or(secure, address.URL)
			}
		}
	}
	return cmp.Or(secure, outside, first, s.URL)
}

// host returns the hostname under which the gateway serves the route.
func (obs *observation) host() (string, error) {
	if names := obs.route.Value.Spec.Hostnames; len(names) > 0 {
		return string(names[0]), nil
	}
	if obs.gateway.HasError() {
		return "", fmt.Errorf("gateway %s: %w", obs.Gateway, obs.gateway.Error)
	}
	for _, listener := range obs.gateway.Value.Spec.Listeners {
		if name := ptr.Deref(listener.Hostname, ""); name != "" {
			return string(name), nil
		}
	}
	addresses := obs.gateway.Value.Status.Addresses
	for _, address := range addresses {
		if ptr.Deref(address.Type, "") == gatewayv1.HostnameAddressType {
			return address.Value, nil
		}
	}
	if len(addresses) > 0 {
		return addresses[0].Value, nil
	}
	return "", fmt.Errorf("gateway %s has neither a host name nor an address", obs.Gateway)
}
