package dataflow

import (
	"encoding/json"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	rbacv1 "k8s.io/api/rbac/v1"
)

// Page is the dataflow page of an operator. controller.NewPage sets the controllers and the CRDs; the caller sets the other
// fields.
type Page struct {
	// Name is the name of the operator.
	Name string `json:"name"`
	// Controllers are the descriptions of the controllers, in the order of the page.
	Controllers []Description `json:"controllers"`
	// Webhooks are the admission webhooks that the operator serves.
	Webhooks []Webhook `json:"webhooks,omitempty"`
	// Conversions are the names of the CRDs whose versions the operator converts, at /convert, as in "databases.example.com".
	Conversions []string `json:"conversions,omitempty"`
	// Services are the ports that the operator exposes. Package install names its generated Services after those with a
	// port named metrics or webhooks.
	Services []Service `json:"services,omitempty"`
	// Endpoints are the HTTP endpoints of the operator except webhooks, metrics and probes.
	Endpoints []Endpoint `json:"endpoints,omitempty"`
	// CRDs are the kinds whose CRDs the operator installs, as in "Database (example.com/v1)". NewPage sets the kinds that
	// the controllers reconcile, without built-in kinds.
	CRDs []string `json:"crds,omitempty"`
	// LeaderElection adds the permissions for leader election.
	LeaderElection bool `json:"leaderElection,omitempty"`
	// Leases are the names of the leases that LeaderElection permits to read and update; none means all leases of the namespace.
	Leases []string `json:"leases,omitempty"`
	// Namespaces restricts the operator to these namespaces; empty means all. Its permissions are bound only in them,
	// except those for cluster-scoped resources, see [Page.Files].
	Namespaces []string `json:"namespaces,omitempty"`
	// ClusterResources are cluster-scoped resources, as in "clusterwidgets.example.com". Those of Kubernetes and the
	// resources of webhooks and reviews are built in, and package install adds those of its CRDs. Only used with Namespaces.
	ClusterResources []string `json:"clusterResources,omitempty"`
	// ExtraRules are permissions that no declaration expresses, such as those that the operator grants to others.
	ExtraRules []rbacv1.PolicyRule `json:"extraRules,omitempty"`
}

// Webhook is an admission webhook.
type Webhook struct {
	// Name is the name of the webhook in the webhook configuration.
	Name string `json:"name"`
	// Type is mutating or validating.
	Type string `json:"type"`
	// Path is the path at which the operator serves the webhook.
	Path string `json:"path"`
	// FailurePolicy is Fail or Ignore.
	FailurePolicy string `json:"failurePolicy"`
	// Service is the namespace and name of the service that the API server calls.
	Service string `json:"service"`
	// Source is the file and line of the configuration.
	Source string `json:"source"`
	// Rules are the operations and resources for which the API server calls the webhook.
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

// Endpoint is an HTTP endpoint of an operator.
type Endpoint struct {
	// Method is the HTTP method, as in "GET".
	Method string `json:"method"`
	// Path is the path, which may have parameters as in "/books/:id".
	Path string `json:"path"`
	// Source is the file and line of the implementation.
	Source string `json:"source"`
}

// JSON returns the page as indented JSON in a stable order.
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
