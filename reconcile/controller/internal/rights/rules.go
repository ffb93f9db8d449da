package rights

import (
	"cmp"
	"slices"
	"strings"

	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// verbOrder is the usual order of verbs.
func verbOrder() []string {
	return []string{"get", "list", "watch", "create", "update", "patch", "delete"}
}

// Compact converts permissions to rules: resources of one group with the same verbs share a rule.
func Compact(grants map[schema.GroupResource][]string) []rbacv1.PolicyRule {
	type key struct{ group, verbs string }
	resources := map[key][]string{}
	for resource, granted := range grants {
		k := key{resource.Group, strings.Join(ordered(granted), ",")}
		resources[k] = append(resources[k], resource.Resource)
	}
	rules := make([]rbacv1.PolicyRule, 0, len(resources))
	for k, names := range resources {
		slices.Sort(names)
		rules = append(rules, rbacv1.PolicyRule{
			APIGroups: []string{k.group}, Resources: names, Verbs: strings.Split(k.verbs, ","),
		})
	}
	slices.SortFunc(rules, func(a, b rbacv1.PolicyRule) int {
		return cmp.Or(cmp.Compare(a.APIGroups[0], b.APIGroups[0]), slices.Compare(a.Resources, b.Resources))
	})
	return rules
}

// Join merges lists of rules and removes duplicate permissions. It does not merge a rule for named objects or for paths, because that rule
// grants less than a rule for all objects.
func Join(sets ...[]rbacv1.PolicyRule) []rbacv1.PolicyRule {
	grants := map[schema.GroupResource][]string{}
	var apart []rbacv1.PolicyRule
	for _, rules := range sets {
		for _, rule := range rules {
			if len(rule.ResourceNames) > 0 || len(rule.NonResourceURLs) > 0 {
				apart = append(apart, split(rule)...)
				continue
			}
			for _, group := range rule.APIGroups {
				for _, resource := range rule.Resources {
					key := schema.GroupResource{Group: group, Resource: resource}
					grants[key] = append(grants[key], rule.Verbs...)
				}
			}
		}
	}
	slices.SortFunc(apart, compare)
	apart = slices.CompactFunc(apart, func(a, b rbacv1.PolicyRule) bool { return compare(a, b) == 0 })
	all := append(Compact(grants), apart...)
	slices.SortStableFunc(all, func(a, b rbacv1.PolicyRule) int { return slices.Compare(a.APIGroups, b.APIGroups) })
	return all
}

// split returns one rule for each group.
func split(rule rbacv1.PolicyRule) []rbacv1.PolicyRule {
	one := rbacv1.PolicyRule{Verbs: ordered(rule.Verbs), ResourceNames: unique(rule.ResourceNames), NonResourceURLs: unique(rule.NonResourceURLs)}
	if len(rule.NonResourceURLs) > 0 {
		return []rbacv1.PolicyRule{one}
	}
	one.Resources = unique(rule.Resources)
	rules := make([]rbacv1.PolicyRule, 0, len(rule.APIGroups))
	for _, group := range rule.APIGroups {
		one.APIGroups = []string{group}
		rules = append(rules, one)
	}
	return rules
}

func compare(a, b rbacv1.PolicyRule) int {
	return cmp.Or(slices.Compare(a.APIGroups, b.APIGroups), slices.Compare(a.Resources, b.Resources), slices.Compare(a.ResourceNames, b.ResourceNames),
		slices.Compare(a.NonResourceURLs, b.NonResourceURLs), slices.Compare(a.Verbs, b.Verbs))
}

func unique(list []string) []string { return slices.Compact(slices.Sorted(slices.Values(list))) }

// ordered returns the verbs without duplicates: the usual verbs in their usual order, then others, such as bind.
func ordered(granted []string) []string {
	known := verbOrder()
	verbs := slices.DeleteFunc(verbOrder(), func(verb string) bool { return !slices.Contains(granted, verb) })
	return append(verbs, slices.DeleteFunc(unique(granted), func(verb string) bool { return slices.Contains(known, verb) })...)
}
