package rights

import (
	"cmp"
	"slices"
	"strings"

	rbacv1 "k8s.io/api/rbac/v1"
)

// Right is one verb of one resource; a subresource is part of the resource, as in deployments/status.
type Right struct{ Verb, Group, Resource string }

func (r Right) String() string {
	return r.Verb + " " + strings.TrimPrefix(r.Group+"/"+r.Resource, "/")
}

// RightsOf splits rules into single permissions, sorted.
func RightsOf(rules []rbacv1.PolicyRule) []Right {
	var all []Right

	for _, rule := range rules {
		for _, group := range rule.APIGroups {
			for _, resource := range rule.Resources {
				for _, verb := range rule.Verbs {
					all = append(all, Right{verb, group, resource})
				}
			}
		}
	}

	slices.SortFunc(all, func(a, b Right) int {
		return cmp.Or(cmp.Compare(a.Group, b.Group), cmp.Compare(a.Resource, b.Resource), cmp.Compare(a.Verb, b.Verb))
	})

	return slices.Compact(all)
}

// From returns the rules without the permission.
func (r Right) From(rules []rbacv1.PolicyRule) []rbacv1.PolicyRule {
	var less []rbacv1.PolicyRule

	for _, rule := range rules {
		for _, group := range rule.APIGroups {
			for _, resource := range rule.Resources {
				verbs := slices.DeleteFunc(slices.Clone(rule.Verbs), func(verb string) bool { return Right{verb, group, resource} == r })
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
