package routing

import (
	"maps"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"
)

// reasonRouteInvalid is the reason of errors about a planned HTTPRoute that breaks a limit of the CRD.
const reasonRouteInvalid = "HTTPRouteInvalid"

// Route is the plan of one HTTPRoute. Zero fields are not set on the object, so the field manager does not own them.
type Route struct {
	// Namespace and Name of the object. Required.
	Namespace, Name string
	// Labels and Annotations of the object.
	Labels, Annotations map[string]string
	// Parents are the gateways to attach to, 1 to 32. A parent without group and kind is a Gateway; without namespace, one in the
	// namespace of the route.
	Parents []gatewayv1.ParentReference
	// Hostnames that the route serves, at most 16: DNS names, the first label possibly "*". None means every host of the listeners.
	Hostnames []string
	// Rules, 1 to 16.
	Rules []Rule
}

// Rule sends requests that match to backends.
type Rule struct {
	// Name of the rule, unique in the route. Optional.
	Name string
	// Matches selects requests, at most 64 in a rule and 128 in the route; one match suffices. Required: to match all requests, use the path
	// "/".
	Matches []Match
	// ReplacePrefix replaces the matched path prefix in the request to the backend; "/" removes the prefix. Nil keeps the path. It requires
	// exactly one match, a path prefix.
	ReplacePrefix *string
	// Hostname replaces the Host header in the request to the backend. Optional.
	Hostname string
	// SetHeaders are request headers that the gateway sets in the request to the backend, at most 16.
	SetHeaders []Header
	// Timeout bounds the entire request, BackendTimeout each attempt at a backend; "0s" means none. See [FormatTimeout].
	Timeout, BackendTimeout *gatewayv1.Duration
	// Backends share the requests by weight, at most 16. Without backends the gateway answers 500.
	Backends []Backend
}

// Match selects requests; all fields that are set must match.
type Match struct {
	// Path to match. Required unless headers, a query or a method are given.
	Path string
	// PathType is the type of the path match. Default: a prefix of path segments.
	PathType gatewayv1.PathMatchType
	// Headers that the request must have, at most 16 with different names.
	Headers []ValueMatch
	// Query parameters that the request must have, at most 16 with different names.
	Query []ValueMatch
	// Method of the request. Empty matches all.
	Method gatewayv1.HTTPMethod
}

// ValueMatch matches a header or a query parameter.
type ValueMatch struct {
	// Name of the header (any case) or of the parameter (exact).
	Name string
	// Value is the exact value or the regular expression, 1 to 4096 bytes (a query parameter: 1024).
	Value string
	// Regexp makes the value a regular expression, in the dialect of the gateway, if it supports any.
	Regexp bool
}

// kind returns the type of the match in the API; empty means Exact, the default.
func (v ValueMatch) kind() string {
	if v.Regexp {
		return "RegularExpression"
	}
	return ""
}

// Header is a request header to set.
type Header struct {
	Name, Value string
}

// Backend is a target of requests.
type Backend struct {
	// Name of the Service. Required.
	Name string
	// Namespace of the Service. Default: that of the route. Another one needs a ReferenceGrant.
	Namespace string
	// Port of the Service, 1 to 65535. Required for a Service.
	Port int32
	// Weight is the share of requests relative to the other backends, 0 to 1000000. Nil means 1.
	Weight *int32
	// Group and Kind of a backend that is not a Service.
	Group, Kind string
}

// NewHTTPRoute returns the HTTPRoute of a plan, or an error that lists every violated limit of the HTTPRoute CRD (Gateway API v1,
// standard channel). It also rejects plans that the API server accepts but no gateway can serve: a route without parents or rules, an
// empty rule or match, rules with the same name, headers that differ only in case. Equal plans give equal objects, and the object shares
// no memory with the plan. Errors are of category InvalidSpec, reason "HTTPRouteInvalid".
func NewHTTPRoute(plan Route) (*gatewayv1.HTTPRoute, error) {
	if err := validateRoute(&plan); err != nil {
		return nil, err
	}
	route := &gatewayv1.HTTPRoute{
		TypeMeta: metav1.TypeMeta{APIVersion: gatewayv1.GroupVersion.String(), Kind: "HTTPRoute"},
		ObjectMeta: metav1.ObjectMeta{
			Namespace:   plan.Namespace,
			Name:        plan.Name,
			Labels:      maps.Clone(plan.Labels),
			Annotations: maps.Clone(plan.Annotations),
		},
	}
	for i := range plan.Parents {
		route.Spec.ParentRefs = append(route.Spec.ParentRefs, *plan.Parents[i].DeepCopy())
	}
	for _, hostname := range plan.Hostnames {
		route.Spec.Hostnames = append(route.Spec.Hostnames, gatewayv1.Hostname(hostname))
	}
	for i := range plan.Rules {
		route.Spec.Rules = append(route.Spec.Rules, buildRule(&plan.Rules[i]))
	}
	return route, nil
}

func buildRule(rule *Rule) gatewayv1.HTTPRouteRule {
	built := gatewayv1.HTTPRouteRule{
		Name:    optional[gatewayv1.SectionName](rule.Name),
		Filters: buildFilters(rule),
	}
	for i := range rule.Matches {
		built.Matches = append(built.Matches, buildMatch(&rule.Matches[i]))
	}
	for i := range rule.Backends {
		built.BackendRefs = append(built.BackendRefs, buildBackend(&rule.Backends[i]))
	}
	if rule.Timeout != nil || rule.BackendTimeout != nil {
		built.Timeouts = &gatewayv1.HTTPRouteTimeouts{
			Request:        clonePointer(rule.Timeout),
			BackendRequest: clonePointer(rule.BackendTimeout),
		}
	}
	return built
}

func buildFilters(rule *Rule) []gatewayv1.HTTPRouteFilter {
	var filters []gatewayv1.HTTPRouteFilter
	if len(rule.SetHeaders) > 0 {
		modifier := &gatewayv1.HTTPHeaderFilter{}
		for _, header := range rule.SetHeaders {
			modifier.Set = append(modifier.Set, gatewayv1.HTTPHeader{Name: gatewayv1.HTTPHeaderName(header.Name), Value: header.Value})
		}
		filters = append(filters, gatewayv1.HTTPRouteFilter{
			Type: gatewayv1.HTTPRouteFilterRequestHeaderModifier, RequestHeaderModifier: modifier,
		})
	}
	if rule.ReplacePrefix == nil && rule.Hostname == "" {
		return filters
	}
	rewrite := &gatewayv1.HTTPURLRewriteFilter{Hostname: optional[gatewayv1.PreciseHostname](rule.Hostname)}
	if rule.ReplacePrefix != nil {
		rewrite.Path = &gatewayv1.HTTPPathModifier{
			Type: gatewayv1.PrefixMatchHTTPPathModifier, ReplacePrefixMatch: clonePointer(rule.ReplacePrefix),
		}
	}
	return append(filters, gatewayv1.HTTPRouteFilter{Type: gatewayv1.HTTPRouteFilterURLRewrite, URLRewrite: rewrite})
}

func buildMatch(match *Match) gatewayv1.HTTPRouteMatch {
	built := gatewayv1.HTTPRouteMatch{Method: optional[gatewayv1.HTTPMethod](match.Method)}
	if match.Path != "" {
		kind, path := match.pathType(), match.Path
		built.Path = &gatewayv1.HTTPPathMatch{Type: &kind, Value: &path}
	}
	for _, header := range match.Headers {
		built.Headers = append(built.Headers, gatewayv1.HTTPHeaderMatch{
			Type: optional[gatewayv1.HeaderMatchType](header.kind()), Name: gatewayv1.HTTPHeaderName(header.Name), Value: header.Value,
		})
	}
	for _, parameter := range match.Query {
		built.QueryParams = append(built.QueryParams, gatewayv1.HTTPQueryParamMatch{
			Type: optional[gatewayv1.QueryParamMatchType](parameter.kind()), Name: gatewayv1.HTTPHeaderName(parameter.Name), Value: parameter.Value,
		})
	}
	return built
}

// pathType returns the type of the path match, with the default of the API.
func (m *Match) pathType() gatewayv1.PathMatchType {
	if m.PathType == "" {
		return gatewayv1.PathMatchPathPrefix
	}
	return m.PathType
}

func buildBackend(backend *Backend) gatewayv1.HTTPBackendRef {
	built := gatewayv1.HTTPBackendRef{}
	built.Name = gatewayv1.ObjectName(backend.Name)
	built.Namespace = optional[gatewayv1.Namespace](backend.Namespace)
	built.Group = optional[gatewayv1.Group](backend.Group)
	built.Kind = optional[gatewayv1.Kind](backend.Kind)
	built.Weight = clonePointer(backend.Weight)
	if backend.Port != 0 {
		port := backend.Port
		built.Port = &port
	}
	return built
}

// optional returns nil for the empty string.
func optional[To, From ~string](value From) *To {
	if value == "" {
		return nil
	}
	converted := To(value)
	return &converted
}

func clonePointer[T any](value *T) *T {
	if value == nil {
		return nil
	}
	clone := *value
	return &clone
}
