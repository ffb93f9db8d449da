package dataflow

import (
	"encoding/json"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	rbacv1 "k8s.io/api/rbac/v1"
)

// Page is the dataflow page of an operator: its controllers, and what no controller knows. Fill in the fields that
// controller.NewPage leaves empty.
type Page struct {
	// Name is the name of the operator.
	Name string `json:"name"`
	// Controllers are described in the order given.
	Controllers []Description `json:"controllers"`
	// Webhooks are the admission webhooks that the operator serves.
	Webhooks []Webhook `json:"webhooks,omitempty"`
	// Conversions are the names of the CRDs whose versions the operator converts, at /convert, as in "databases.example.com".
	Conversions []string `json:"conversions,omitempty"`
	// Services are the ports that the operator exposes. Package install takes from them the names of the Services that it generates: those
	// with a port named metrics and webhooks.
	Services []Service `json:"services,omitempty"`
	// Endpoints are what the operator serves over HTTP besides webhooks, metrics and probes.
	Endpoints []Endpoint `json:"endpoints,omitempty"`
	// CRDs are the kinds that the operator brings along, as in "Database (example.com/v1)". NewPage fills in the
	// kinds that the controllers reconcile, built-in ones left out.
	CRDs []string `json:"crds,omitempty"`
	// LeaderElection adds the rights to take part in one.
	LeaderElection bool `json:"leaderElection,omitempty"`
	// Namespaces are those that the operator is restricted to; none restricts it to none. Its rights are bound in them alone, save for
	// those on resources without namespaces, see [Page.Files].
	Namespaces []string `json:"namespaces,omitempty"`
	// ClusterResources are resources without namespaces, as in "clusterwidgets.example.com". Those of Kubernetes itself and the
	// resources of webhooks and reviews are known. It matters with Namespaces alone.
	ClusterResources []string `json:"clusterResources,omitempty"`
	// ExtraRules are rights that no declaration expresses, such as those that the operator grants to others.
	ExtraRules []rbacv1.PolicyRule `json:"extraRules,omitempty"`
}

// Webhook is an admission webhook.
type Webhook struct {
	// Name is its name in the webhook configuration.
	Name string `json:"name"`
	// Type is mutating or validating.
	Type string `json:"type"`
	// Path is where the operator serves it.
	Path string `json:"path"`
	// FailurePolicy is Fail or Ignore.
	FailurePolicy string `json:"failurePolicy"`
	// Service is the namespace and name of the service that the API server calls.
	Service string `json:"service"`
	// Source is where it is configured.
	Source string `json:"source"`
	// Rules are what it is called for.
	Rules []admissionregistrationv1.RuleWithOperations `json:"rules,omitempty"`
}

// Service is a port that the operator exposes, as in "webhook-service:443/TCP [https]".
type Service struct {
	// Name is the name of the service.
	Name string `json:"name"`
	// Port is the port of the service.
	Port int32 `json:"port"`
	// PortName is the name of the port, which may be empty.
	PortName string `json:"portName,omitempty"`
}

// Endpoint is what an operator serves over HTTP.
type Endpoint struct {
	// Method is the HTTP method, as in "GET".
	Method string `json:"method"`
	// Path is the path, which may have parameters as in "/books/:id".
	Path string `json:"path"`
	// Source is where it is implemented.
	Source string `json:"source"`
}

// JSON is the page for machines, indented, with a stable order.
func (p Page) JSON() ([]byte, error) {
	page := struct {
		Page
		Rules []rbacv1.PolicyRule `json:"rules"`
	}{p, p.Rules()}
	data, err := json.MarshalIndent(page, "", "  ")
	if err != nil {
		return nil, err
	}
	return append(data, '\n'), nil
}
