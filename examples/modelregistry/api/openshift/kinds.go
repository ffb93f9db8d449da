package openshift

import (
	"cmp"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Route publishes a Service under a host name.
//
// +kubebuilder:object:root=true
type Route struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec   RouteSpec   `json:"spec,omitempty"`
	Status RouteStatus `json:"status,omitempty"`
}

// RouteSpec describes a route.
type RouteSpec struct {
	// Host is the name; empty lets the router choose.
	Host string `json:"host,omitempty"`
	// To is the Service.
	To RouteTarget `json:"to"`
	// Port of the Service.
	Port *RoutePort `json:"port,omitempty"`
	// TLS of the route; nil is plain HTTP.
	TLS *RouteTLS `json:"tls,omitempty"`
	// WildcardPolicy is None or Subdomain.
	WildcardPolicy string `json:"wildcardPolicy,omitempty"`
}

// RouteTarget names a Service.
type RouteTarget struct {
	Kind   string `json:"kind"`
	Name   string `json:"name"`
	Weight *int32 `json:"weight,omitempty"`
}

// RoutePort names a port of the Service.
type RoutePort struct {
	TargetPort string `json:"targetPort"`
}

// RouteTLS configures the TLS termination.
type RouteTLS struct {
	Termination string `json:"termination"`
}

// Admitted reports whether a router has admitted the route, and otherwise the message of the last router. The route may be nil.
func (route *Route) Admitted() (admitted bool, why string) {
	if route == nil {
		return false, ""
	}
	for _, ingress := range route.Status.Ingress {
		for _, c := range ingress.Conditions {
			switch {
			case c.Type != "Admitted":
			case c.Status == corev1.ConditionTrue:
				return true, ""
			default:
				why = fmt.Sprintf("Host %s in Route %s is unavailable: {reason: %s, message: %s}", ingress.Host, route.Name, c.Reason, c.Message)
			}
		}
	}
	return false, why
}

// RouteStatus has an entry for each router.
type RouteStatus struct {
	Ingress []RouteIngress `json:"ingress,omitempty"`
}

// RouteIngress is the status that a router reports.
type RouteIngress struct {
	Host       string           `json:"host,omitempty"`
	Conditions []RouteCondition `json:"conditions,omitempty"`
}

// RouteCondition reports whether a router has admitted the route: type Admitted.
type RouteCondition struct {
	Type    string                 `json:"type"`
	Status  corev1.ConditionStatus `json:"status"`
	Reason  string                 `json:"reason,omitempty"`
	Message string                 `json:"message,omitempty"`
}

// RouteList is a list of routes.
//
// +kubebuilder:object:root=true
type RouteList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`

	Items []Route `json:"items"`
}

// Group is a group of users, cluster-scoped. Another controller manages its members.
//
// +kubebuilder:object:root=true
type Group struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`
}

// GroupList is a list of groups.
//
// +kubebuilder:object:root=true
type GroupList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`

	Items []Group `json:"items"`
}

// Ingress is the configuration of the cluster's routers, cluster-scoped.
//
// +kubebuilder:object:root=true
type Ingress struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec IngressSpec `json:"spec,omitempty"`
}

// IngressSpec has the domains of the cluster.
type IngressSpec struct {
	Domain string `json:"domain,omitempty"`
	// AppsDomain takes precedence over Domain.
	AppsDomain string `json:"appsDomain,omitempty"`
}

// RouteDomain returns the domain of the routes, or the empty string if the configuration is nil.
func (i *Ingress) RouteDomain() string {
	if i == nil {
		return ""
	}
	return cmp.Or(i.Spec.AppsDomain, i.Spec.Domain)
}

// IngressList is a list of configurations.
//
// +kubebuilder:object:root=true
type IngressList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`

	Items []Ingress `json:"items"`
}
