package rights

import (
	"cmp"
	"slices"
	"strings"

	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// verbOrder is the order in which people write verbs.
func verbOrder() []string {
	return []string{"get", "list", "watch", "create", "update", "patch", "delete"}
}

// Plural guesses the resource of a kind. The guess of apimachinery makes gatewaies of Gateway.
func Plural(kind schema.GroupVersionKind) string {
	singular := strings.ToLower(kind.Kind)
	for _, vowel := range []string{"ay", "ey", "oy", "uy"} {
		if strings.HasSuffix(singular, vowel) {
			return singular + "s"
		}
	}
	guess, _ := meta.UnsafeGuessKindToResource(kind)
	return guess.Resource
}

// Compact turns grants into rules: resources of one group with the same verbs share a rule.
func Compact(grants map[schema.GroupResource][]string) []rbacv1.PolicyRule {
	type key struct{ group, verbs string }
	resources := map[key][]string{}
	for resource, granted := range grants {
		verbs := slices.DeleteFunc(verbOrder(), func(verb string) bool { return !slices.Contains(granted, verb) })
		k := key{resource.Group, strings.Join(verbs, ",")}
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

// Join adds up the rules of several controllers.
func Join(sets ...[]rbacv1.PolicyRule) []rbacv1.PolicyRule {
	grants := map[schema.GroupResource][]string{}
	for _, rules := range sets {
		for _, rule := range rules {
			for _, group := range rule.APIGroups {
				for _, resource := range rule.Resources {
					key := schema.GroupResource{Group: group, Resource: resource}
					grants[key] = append(grants[key], rule.Verbs...)
				}
			}
		}
	}
	return Compact(grants)
}
