package dataflow

import (
	"slices"

	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/reconcilekit/reconcilekit/reconcile/controller/internal/rights"
)

// eventRules are the permissions for the events of transitions, in the API group events.k8s.io.
func eventRules() []rbacv1.PolicyRule {
	return []rbacv1.PolicyRule{
		{APIGroups: []string{"events.k8s.io"}, Resources: []string{"events"}, Verbs: []string{"create", "patch"}},
	}
}

// leaseRules are the permissions for leader election with these leases, or with any if there are none. Leader election emits events of
// the core API group. RBAC cannot restrict create by name.
func leaseRules(names []string) []rbacv1.PolicyRule {
	group, leases := []string{"coordination.k8s.io"}, []string{"leases"}
	return []rbacv1.PolicyRule{
		{APIGroups: group, Resources: leases, Verbs: []string{"create"}},
		{APIGroups: group, Resources: leases, ResourceNames: names, Verbs: []string{"get", "update"}},
		// An instance becomes leader once, so its event is never patched.
		{APIGroups: []string{""}, Resources: []string{"events"}, Verbs: []string{"create"}},
	}
}

// claimRules are the permissions to store the owners of external resources in the operator's namespace.
func claimRules() []rbacv1.PolicyRule {
	return []rbacv1.PolicyRule{
		{APIGroups: []string{""}, Resources: []string{"configmaps"}, Verbs: []string{"get", "list", "create", "patch", "delete"}},
	}
}

// ownRules are the permissions in the operator's namespace: leases with LeaderElection, and claims of external resources.
func (p Page) ownRules() []rbacv1.PolicyRule {
	var sets [][]rbacv1.PolicyRule
	if p.LeaderElection {
		sets = append(sets, leaseRules(p.Leases))
	}
	if p.hasExternal() {
		sets = append(sets, claimRules())
	}
	return rights.Join(sets...)
}

func (p Page) hasExternal() bool {
	return slices.ContainsFunc(p.Controllers, func(d Description) bool { return len(d.External) > 0 })
}

// Rules returns the minimal permissions of the operator: those of its controllers, events, leases with LeaderElection, and
// ConfigMaps for the claims of external resources.
func (p Page) Rules() []rbacv1.PolicyRule {
	sets := [][]rbacv1.PolicyRule{eventRules(), p.ExtraRules, p.ownRules()}
	for _, d := range p.Controllers {
		sets = append(sets, d.Rules)
	}
	return rights.Join(sets...)
}

// ClusterRole returns [Page.Rules] as a ClusterRole.
func (p Page) ClusterRole(name string) *rbacv1.ClusterRole {
	return &rbacv1.ClusterRole{
		TypeMeta:   metav1.TypeMeta{APIVersion: rbacv1.SchemeGroupVersion.String(), Kind: "ClusterRole"},
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Rules:      p.Rules(),
	}
}

// RoleYAML returns [Page.ClusterRole] as YAML, for a file such as config/rbac/role.yaml.
func (p Page) RoleYAML(name string) ([]byte, error) {
	role, err := documents(p.ClusterRole(name))
	return []byte(role), err
}

func subjects(account types.NamespacedName) []rbacv1.Subject {
	return []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Namespace: account.Namespace, Name: account.Name}}
}
