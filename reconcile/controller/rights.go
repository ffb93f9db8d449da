package controller

import (
	"cmp"
	"slices"
	"strings"

	"github.com/go-logr/logr"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// verbOrder is the order in which people write verbs.
func verbOrder() []string {
	return []string{"get", "list", "watch", "create", "update", "patch", "delete"}
}

// plural guesses the resource of a kind. The guess of apimachinery makes gatewaies of Gateway.
func plural(kind schema.GroupVersionKind) string {
	singular := strings.ToLower(kind.Kind)
	for _, vowel := range []string{"ay", "ey", "oy", "uy"} {
		if strings.HasSuffix(singular, vowel) {
			return singular + "s"
		}
	}
	guess, _ := meta.UnsafeGuessKindToResource(kind)
	return guess.Resource
}

// checkPlural logs that the rights of [Builder.Describe], which are derived without an API server, name a resource that this one does not
// have.
func (b *Builder[T, F, O]) checkPlural(logger logr.Logger, k *kind, resource string) {
	derived := k.resource
	if derived == "" {
		derived = plural(k.GroupVersionKind)
	}
	if derived != resource {
		logger.Error(nil, "the derived rights name another resource than the API server has: add controller.Resource beside the kind, and generate them again",
			"controller", b.name, "kind", printKind(k.GroupVersionKind), "derived", derived, "resource", resource)
	}
}

// compact turns grants into rules: resources of one group with the same verbs share a rule.
func compact(grants map[schema.GroupResource][]string) []rbacv1.PolicyRule {
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

// join adds up the rules of several controllers.
func join(sets ...[]rbacv1.PolicyRule) []rbacv1.PolicyRule {
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
	return compact(grants)
}

// eventRules let the operator announce transitions, which it does through the events.k8s.io API.
func eventRules() []rbacv1.PolicyRule {
	return []rbacv1.PolicyRule{
		{APIGroups: []string{"events.k8s.io"}, Resources: []string{"events"}, Verbs: []string{"create", "patch"}},
	}
}

// leaseRules let the operator take part in a leader election, whose outcome is announced through the old events API.
func leaseRules() []rbacv1.PolicyRule {
	return []rbacv1.PolicyRule{
		{APIGroups: []string{"coordination.k8s.io"}, Resources: []string{"leases"}, Verbs: []string{"get", "create", "update"}},
		// An instance leads once, so that its event never repeats itself, which would be a patch.
		{APIGroups: []string{""}, Resources: []string{"events"}, Verbs: []string{"create"}},
	}
}

// Rules are the least rights of the operator: those of its controllers, events, and, with LeaderElection, leases.
func (p Page) Rules() []rbacv1.PolicyRule {
	sets := [][]rbacv1.PolicyRule{eventRules(), p.ExtraRules}
	if p.LeaderElection {
		sets = append(sets, leaseRules())
	}
	for _, d := range p.Controllers {
		sets = append(sets, d.Rules)
	}
	return join(sets...)
}

// ClusterRole is [Page.Rules] as an object.
func (p Page) ClusterRole(name string) *rbacv1.ClusterRole {
	return &rbacv1.ClusterRole{
		TypeMeta:   metav1.TypeMeta{APIVersion: rbacv1.SchemeGroupVersion.String(), Kind: "ClusterRole"},
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Rules:      p.Rules(),
	}
}

// RoleYAML is [Page.ClusterRole] as the content of a file such as config/rbac/role.yaml.
func (p Page) RoleYAML(name string) ([]byte, error) {
	role, err := documents(p.ClusterRole(name))
	return []byte(role), err
}
