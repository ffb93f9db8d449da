package claims

import (
	"slices"
	"strings"

	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"
)

// standingClaims are the claims on one parent that have no winner.
type standingClaims struct {
	byPath      map[string][]*Claim
	all         []*Claim
	expressions []*Claim
	patterns    []*Claim // with a wildcard among their hosts, or for every host
}

func (s *standingClaims) add(c *Claim) {
	s.byPath[c.Path] = append(s.byPath[c.Path], c)
	s.all = append(s.all, c)
	if c.PathType == gatewayv1.PathMatchRegularExpression {
		s.expressions = append(s.expressions, c)
	}
	if slices.ContainsFunc(hostsOf(c), func(host string) bool { return strings.HasPrefix(host, "*") }) {
		s.patterns = append(s.patterns, c)
	}
}

// winner returns the oldest standing claim that conflicts with a younger one, nil if there is none. It checks the path and its parent
// paths. Only a regular expression, or a host that an older pattern covers, can match requests of other paths.
func (s *standingClaims) winner(young *Claim) *Claim {
	if young.PathType == gatewayv1.PathMatchRegularExpression {
		return firstConflict(s.all, young, nil)
	}
	found := firstConflict(s.expressions, young, nil)
	if len(young.Hosts) > 0 {
		found = firstConflict(s.patterns, young, found)
	}
	for path := young.Path; ; path = parentPath(path) {
		found = firstConflict(s.byPath[path], young, found)
		if path == "/" {
			return found
		}
	}
}

// firstConflict returns the older of found and the first conflicting claim. The claims are ordered by age.
func firstConflict(claims []*Claim, young, found *Claim) *Claim {
	for _, old := range claims {
		if conflicts(old, young) {
			if found == nil || compareClaims(*old, *found) < 0 {
				return old
			}
			return found
		}
	}
	return found
}

// parentPath returns the next shorter prefix of a path: "/a/b/", "/a/b", "/a", "/".
func parentPath(path string) string {
	trimmed := strings.TrimRight(path, "/")
	if trimmed != path && trimmed != "" {
		return trimmed
	}
	return "/" + strings.TrimLeft(trimmed[:max(strings.LastIndex(trimmed, "/"), 0)], "/")
}

// conflicts reports whether a younger canonical claim conflicts with an older one on the same parent.
func conflicts(old, young *Claim) bool {
	if sameClaimant(&old.Owner, &young.Owner) || !overlaps(old, young) {
		return false
	}
	if old.Path == young.Path && old.PathType == young.PathType && old.Qualifier == young.Qualifier {
		return true
	}
	return old.Owner.Namespace != young.Owner.Namespace && takes(old, young)
}

// takes reports whether the younger claim matches a request that the older one would otherwise receive, by the precedence of
// https://gateway-api.sigs.k8s.io/reference/spec/#httprouterule: host, exact path, longest prefix, method, then the number of headers and
// query parameters.
func takes(old, young *Claim) bool {
	if a, b := method(old.Qualifier), method(young.Qualifier); a != "" && b != "" && a != b {
		return false
	}
	for _, oldHost := range hostsOf(old) {
		for _, youngHost := range hostsOf(young) {
			switch {
			case oldHost == youngHost:
				if takesPath(old, young) {
					return true
				}
			case covers(oldHost, youngHost):
				if nested(old, young) || nested(young, old) {
					return true
				}
			}
		}
	}
	return false
}

// takesPath is takes for claims of one host.
func takesPath(old, young *Claim) bool {
	switch {
	case !nested(old, young):
		return false
	case old.Path != young.Path || old.PathType != young.PathType:
		return true
	}
	return !weaker(young.Qualifier, old.Qualifier)
}

// nested reports whether requests of the inner claim match the path of the outer one. For regular expressions it reports true.
func nested(outer, inner *Claim) bool {
	switch {
	case outer.PathType == gatewayv1.PathMatchRegularExpression || inner.PathType == gatewayv1.PathMatchRegularExpression:
		return true
	case outer.PathType == gatewayv1.PathMatchExact:
		return inner.PathType == gatewayv1.PathMatchExact && outer.Path == inner.Path
	}
	return outer.Path == "/" || inner.Path == outer.Path || strings.HasPrefix(inner.Path, outer.Path+"/")
}

// weaker reports whether the conditions of one qualifier are a proper subset of those of the other.
func weaker(qualifier, other string) bool {
	if qualifier == other {
		return false
	}
	conditions := strings.Split(other, ", ")
	for condition := range strings.SplitSeq(qualifier, ", ") {
		if condition != "" && !slices.Contains(conditions, condition) {
			return false
		}
	}
	return true
}

// method returns the HTTP method of a qualifier, empty for any.
func method(qualifier string) string {
	for condition := range strings.SplitSeq(qualifier, ", ") {
		if name, ok := strings.CutPrefix(condition, "method "); ok {
			return name
		}
	}
	return ""
}

// hostsOf returns the hosts of a claim, "*" for every host.
func hostsOf(c *Claim) []string {
	if len(c.Hosts) == 0 {
		return []string{"*"}
	}
	return c.Hosts
}

// canonical returns the claim in canonical form, with the defaults of the API.
func (c Claim) canonical() Claim {
	if c.Parent.Group == "" {
		c.Parent.Group = gatewayv1.GroupName
	}
	if c.Parent.Kind == "" {
		c.Parent.Kind = "Gateway"
	}
	if c.PathType == "" {
		c.PathType = gatewayv1.PathMatchPathPrefix
	}
	if c.PathType == gatewayv1.PathMatchPathPrefix {
		c.Path = "/" + strings.Trim(c.Path, "/")
	}
	var hosts []string
	for _, host := range c.Hosts {
		host = strings.TrimSuffix(strings.ToLower(host), ".")
		if host == "" || host == "*" {
			hosts = nil // matches every host
			break
		}
		hosts = append(hosts, host)
	}
	slices.Sort(hosts)
	c.Hosts = slices.Compact(hosts)
	return c
}

// overlaps reports whether a request could match both of two canonical claims with the same key.
func overlaps(a, b *Claim) bool {
	if a.Listener != "" && b.Listener != "" && a.Listener != b.Listener || a.Port != 0 && b.Port != 0 && a.Port != b.Port {
		return false
	}
	_, common := commonHost(a.Hosts, b.Hosts)
	return common
}

// commonHost returns the first host that both lists serve, the narrower of two patterns; empty means every host.
func commonHost(a, b []string) (string, bool) {
	switch {
	case len(a) == 0 && len(b) == 0:
		return "", true
	case len(a) == 0:
		return b[0], true
	case len(b) == 0:
		return a[0], true
	}
	for _, first := range a {
		for _, second := range b {
			switch {
			case first == second || covers(first, second):
				return second, true
			case covers(second, first):
				return first, true
			}
		}
	}
	return "", false
}

// covers reports whether a wildcard pattern covers every host of the other: "*" stands for one or more labels (Gateway API, type
// Hostname), so "*.example.com" covers "a.b.example.com" and "*.b.example.com", but not "example.com".
func covers(pattern, host string) bool {
	suffix, wildcard := strings.CutPrefix(pattern, "*")
	return wildcard && strings.HasSuffix(host, suffix) && len(host) > len(suffix)
}

// value returns the value of an optional field, or the default of the API.
func value[T any](pointer *T, unset T) T {
	if pointer == nil {
		return unset
	}
	return *pointer
}
