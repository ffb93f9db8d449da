package dataflow

import (
	"bytes"
	"slices"

	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/yaml"
)

const generatedHeader = "# Generated from the declarations of the controllers. Do not edit.\n"

// Files returns the page and the RBAC manifests as files, by path in the operator's folder: docs/dataflow.md and
// config/rbac/role.yaml, a ClusterRole with the name. With the service account of the operator it also returns the bindings
// in config/rbac/role_binding.yaml; the permissions for leader election and for the claims of external resources are then
// in a Role in the account's namespace, in config/rbac/leader_election.yaml. With the zero account they are in the
// ClusterRole.
//
// With [Page.Namespaces] a RoleBinding in each of them binds the ClusterRole. The permissions for cluster-scoped resources
// are then in another ClusterRole, whose name ends in -cluster.
func (p Page) Files(name string, account types.NamespacedName) (map[string]string, error) {
	cluster := p
	if account.Name != "" { // the permissions for the account's namespace are in a Role
		cluster.LeaderElection, cluster.Controllers = false, slices.Clone(p.Controllers)
		for i := range cluster.Controllers {
			cluster.Controllers[i].External = nil
		}
	}
	roles := cluster.roles(name)
	objects := make([]any, 0, len(roles))
	for _, role := range roles {
		objects = append(objects, role)
	}
	role, err := documents(objects...)
	if err != nil {
		return nil, err
	}
	files := map[string]string{"docs/dataflow.md": p.Markdown(), "config/rbac/role.yaml": role}
	if account.Name == "" {
		return files, nil
	}
	if files["config/rbac/role_binding.yaml"], err = documents(p.bindings(name, roles, account)...); err != nil || len(p.ownRules()) == 0 {
		return files, err
	}
	files["config/rbac/leader_election.yaml"], err = documents(p.leaderElection(name+"-leader-election", account)...)
	return files, err
}

// leaderElection returns a Role with the permissions for the account's namespace, and its binding.
func (p Page) leaderElection(name string, account types.NamespacedName) []any {
	meta := metav1.ObjectMeta{Namespace: account.Namespace, Name: name}
	return []any{
		&rbacv1.Role{
			TypeMeta:   metav1.TypeMeta{APIVersion: rbacv1.SchemeGroupVersion.String(), Kind: "Role"},
			ObjectMeta: meta, Rules: p.ownRules(),
		},
		&rbacv1.RoleBinding{
			TypeMeta:   metav1.TypeMeta{APIVersion: rbacv1.SchemeGroupVersion.String(), Kind: "RoleBinding"},
			ObjectMeta: meta, RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: name},
			Subjects: subjects(account),
		},
	}
}

// documents formats objects as the content of one YAML file.
func documents(objects ...any) (string, error) {
	var w bytes.Buffer
	for i, object := range objects {
		w.WriteString("---\n")
		if i == 0 {
			w.WriteString(generatedHeader)
		}
		data, err := yaml.Marshal(object)
		if err != nil {
			return "", err
		}
		w.Write(data)
	}
	return w.String(), nil
}
