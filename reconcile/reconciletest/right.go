package reconciletest

import (
	"cmp"
	"slices"
	"strings"

	rbacv1 "k8s.io/api/rbac/v1"
)

// right is one verb of one resource; a subresource is part of the resource, as in deployments/status.
type right struct{ verb, group, resource string }

func (r right) String() string {
	return r.verb + " " + strings.TrimPrefix(r.group+"/"+r.resource, "/")
}

// rightsOf takes rules apart, sorted.
func rightsOf(rules []rbacv1.PolicyRule) []right {
	var all []right

	for _, rule := range rules {
		for _, group := range rule.APIGroups {
			for _, resource := range rule.Resources {
				for _, verb := range rule.Verbs {
					all = append(all, right{verb, group, resource})
				}
			}
		}
	}

	slices.SortFunc(all, func(a, b right) int {
		return cmp.Or(cmp.Compare(a.group, b.group), cmp.Compare(a.resource, b.resource), cmp.Compare(a.verb, b.verb))
	})

	return slices.Compact(all)
}

// from returns the rules less the right.
func (r right) from(rules []rbacv1.PolicyRule) []rbacv1.PolicyRule {
	var less []rbacv1.PolicyRule

	for _, rule := range rules {
		for _, group := range rule.APIGroups {
			for _, resource := range rule.Resources {
				verbs := slices.DeleteFunc(slices.Clone(rule.Verbs), func(verb string) bool { return right{verb, group, resource} == r })
				if len(verbs) > 0 {
					less = append(less, rbacv1.PolicyRule{
						Verbs: verbs, APIGroups: []string{group}, Resources: []string{resource}, ResourceNames: rule.ResourceNames,
					})
				}
			}
		}
	}

	return less
}
