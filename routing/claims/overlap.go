package claims

import (
	"slices"
	"strings"

	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"
)

// contested is what claims must have in common before their listeners and hosts matter.
type contested struct {
	parent          Parent
	path, qualifier string
	pathType        gatewayv1.PathMatchType
}

// canonical writes a claim in one form, with the defaults of the API filled in.
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
			hosts = nil // every host, whatever else is listed
			break
		}
		hosts = append(hosts, host)
	}
	slices.Sort(hosts)
	c.Hosts = slices.Compact(hosts)
	return c
}

// overlaps reports whether some request could go to either of two canonical claims that are contested by the same key.
func overlaps(a, b *Claim) bool {
	if a.Listener != "" && b.Listener != "" && a.Listener != b.Listener || a.Port != 0 && b.Port != 0 && a.Port != b.Port {
		return false
	}
	_, common := commonHost(a.Hosts, b.Hosts)
	return common
}

// commonHost returns the first host that both lists serve, the narrower of two patterns; empty is every host.
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

// covers reports whether a wildcard pattern holds every host of the other: "*" stands for one or more whole labels (Gateway API,
// type Hostname), so "*.example.com" covers "a.b.example.com" and "*.b.example.com", but not "example.com".
func covers(pattern, host string) bool {
	suffix, wildcard := strings.CutPrefix(pattern, "*")
	return wildcard && strings.HasSuffix(host, suffix) && len(host) > len(suffix)
}

// value returns what an optional field says, or the default of the API.
func value[T any](pointer *T, unset T) T {
	if pointer == nil {
		return unset
	}
	return *pointer
}
