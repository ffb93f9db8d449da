package description

import (
	"slices"

	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/reconcilekit/reconcilekit/internal/plural"
	"github.com/reconcilekit/reconcilekit/reconcile/controller/internal/declaration"
	"github.com/reconcilekit/reconcilekit/reconcile/controller/internal/rights"
)

// Rules returns the minimal rules, one for each API group and set of verbs.
func Rules(c *declaration.Catalogue) []rbacv1.PolicyRule {
	grants := map[schema.GroupResource][]string{}
	grant := func(group, resource string, verbs ...string) {
		key := schema.GroupResource{Group: group, Resource: resource}
		grants[key] = append(grants[key], verbs...)
	}
	for _, k := range c.Retired() {
		grant(k.Group, Resource(k), "list", "delete")
	}
	for _, k := range c.Installable() {
		resource := Resource(k)
		grant(k.Group, resource, "list", "watch") // the informer; reads send no requests
		switch {
		case k.Has(declaration.PurposeOwns, declaration.PurposeWrites):
			grant(k.Group, resource, "get", "create", "patch", "delete")
		case k.Has(declaration.PurposeShares):
			grant(k.Group, resource, "get", "create", "patch")
		case k.Has(declaration.PurposeContributes):
			grant(k.Group, resource, "get", "patch")
		}
		if k.Has(declaration.PurposeFor) {
			grant(k.Group, resource, "get", "patch") // finalizer and inventory
			if k.HasStatus() {
				grant(k.Group, resource+"/status", "patch")
			}
			if ownsAny(c) {
				// Owner references block the owner's deletion; OwnerReferencesPermissionEnforcement requires this permission for them.
				grant(k.Group, resource+"/finalizers", "update")
			}
		}
	}
	if len(c.Optional()) > 0 {
		grant(declaration.CRD().Group, "customresourcedefinitions", "list", "watch")
	}
	return rights.Compact(grants)
}

// Resource returns the resource name of the kind in rules: the declared one, or one that is derived without an API server.
func Resource(k *declaration.Kind) string {
	if k.Resource != "" {
		return k.Resource
	}
	return plural.Of(k.Kind)
}

func ownsAny(c *declaration.Catalogue) bool {
	return slices.ContainsFunc(c.Kinds, func(k *declaration.Kind) bool { return k.Has(declaration.PurposeOwns) })
}
