package dataflow

import (
	"slices"

	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/reconcilekit/reconcilekit/reconcile/controller/internal/rights"
)

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

// claimRules let the operator store which owner has which external resource, in the namespace that it runs in.
func claimRules() []rbacv1.PolicyRule {
	return []rbacv1.PolicyRule{
		{APIGroups: []string{""}, Resources: []string{"configmaps"}, Verbs: []string{"get", "list", "create", "patch", "delete"}},
	}
}

// ownRules are the permissions in the namespace that the operator runs in: leases with LeaderElection, and claims of external resources.
func (p Page) ownRules() []rbacv1.PolicyRule {
	var sets [][]rbacv1.PolicyRule
	if p.LeaderElection {
		sets = append(sets, leaseRules())
	}
	if p.hasExternal() {
		sets = append(sets, claimRules())
	}
	return rights.Join(sets...)
}

func (p Page) hasExternal() bool {
	return slices.ContainsFunc(p.Controllers, func(d Description) bool { return len(d.External) > 0 })
}

// Rules are the minimal permissions of the operator: those of its controllers, events, leases with LeaderElection, and ConfigMaps for the claims of
// external resources.
func (p Page) Rules() []rbacv1.PolicyRule {
	sets := [][]rbacv1.PolicyRule{eventRules(), p.ExtraRules, p.ownRules()}
	for _, d := range p.Controllers {
		sets = append(sets, d.Rules)
	}
	return rights.Join(sets...)
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

func subjects(account types.NamespacedName) []rbacv1.Subject {
	return []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Namespace: account.Namespace, Name: account.Name}}
}
