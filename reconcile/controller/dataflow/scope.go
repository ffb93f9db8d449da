package dataflow

import (
	"slices"
	"strings"

	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
)

// clusterSuffix is the suffix of the role for cluster-scoped resources.
const clusterSuffix = "-cluster"

// clusterGroups returns the API groups of Kubernetes whose resources are all cluster-scoped.
func clusterGroups() []string {
	return []string{
		"admissionregistration.k8s.io", "apiextensions.k8s.io", "apiregistration.k8s.io", "authentication.k8s.io", "certificates.k8s.io",
		"flowcontrol.apiserver.k8s.io", "internal.apiserver.k8s.io", "node.k8s.io", "scheduling.k8s.io", "storagemigration.k8s.io",
	}
}

// clusterResources returns the cluster-scoped resources in other groups of Kubernetes, and GatewayClass.
func clusterResources() []schema.GroupResource {
	return []schema.GroupResource{
		{Resource: "namespaces"},
		{Resource: "nodes"},
		{Resource: "persistentvolumes"},
		{Resource: "componentstatuses"},
		{Group: rbacv1.GroupName, Resource: "clusterroles"},
		{Group: rbacv1.GroupName, Resource: "clusterrolebindings"},
		{Group: "authorization.k8s.io", Resource: "subjectaccessreviews"},
		{Group: "authorization.k8s.io", Resource: "selfsubjectaccessreviews"},
		{Group: "authorization.k8s.io", Resource: "selfsubjectrulesreviews"},
		{Group: "networking.k8s.io", Resource: "ingressclasses"},
		{Group: "networking.k8s.io", Resource: "ipaddresses"},
		{Group: "networking.k8s.io", Resource: "servicecidrs"},
		{Group: "resource.k8s.io", Resource: "deviceclasses"},
		{Group: "resource.k8s.io", Resource: "resourceslices"},
		{Group: "storage.k8s.io", Resource: "storageclasses"},
		{Group: "storage.k8s.io", Resource: "volumeattachments"},
		{Group: "storage.k8s.io", Resource: "csidrivers"},
		{Group: "storage.k8s.io", Resource: "csinodes"},
		{Group: "storage.k8s.io", Resource: "volumeattributesclasses"},
		{Group: "gateway.networking.k8s.io", Resource: "gatewayclasses"},
	}
}

// clusterWide reports whether the resource, or the resource of a subresource, is known to be cluster-scoped.
func (p Page) clusterWide(group, resource string) bool {
	name, _, _ := strings.Cut(resource, "/")
	known := schema.GroupResource{Group: group, Resource: name}
	return slices.Contains(clusterGroups(), group) || slices.Contains(clusterResources(), known) || slices.Contains(p.ClusterResources, known.String())
}

// roles returns the ClusterRole of the operator and, if the operator is restricted to namespaces, the one for
// cluster-scoped resources.
func (p Page) roles(name string) []*rbacv1.ClusterRole {
	all := p.ClusterRole(name)
	if len(p.Namespaces) == 0 {
		return []*rbacv1.ClusterRole{all}
	}
	var within, beyond []rbacv1.PolicyRule
	for _, rule := range all.Rules { // each has one API group, or non-resource URLs
		if len(rule.NonResourceURLs) > 0 {
			beyond = append(beyond, rule)
			continue
		}
		in, out := rule, rule
		in.Resources, out.Resources = nil, nil
		for _, resource := range rule.Resources {
			if p.clusterWide(rule.APIGroups[0], resource) {
				out.Resources = append(out.Resources, resource)
			} else {
				in.Resources = append(in.Resources, resource)
			}
		}
		if len(in.Resources) > 0 {
			within = append(within, in)
		}
		if len(out.Resources) > 0 {
			beyond = append(beyond, out)
		}
	}
	all.Rules = within
	if len(beyond) == 0 {
		return []*rbacv1.ClusterRole{all}
	}
	cluster := all.DeepCopy()
	cluster.Name, cluster.Rules = name+clusterSuffix, beyond
	return []*rbacv1.ClusterRole{all, cluster}
}

// bindings bind the roles to the account, in the namespaces of the page or in the cluster.
func (p Page) bindings(name string, roles []*rbacv1.ClusterRole, account types.NamespacedName) []any {
	var bindings []any
	for _, role := range roles {
		ref := rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: role.Name}
		if len(p.Namespaces) == 0 || role.Name != name {
			bindings = append(bindings, &rbacv1.ClusterRoleBinding{
				TypeMeta:   metav1.TypeMeta{APIVersion: rbacv1.SchemeGroupVersion.String(), Kind: "ClusterRoleBinding"},
				ObjectMeta: metav1.ObjectMeta{Name: role.Name}, RoleRef: ref, Subjects: subjects(account),
			})
			continue
		}
		for _, namespace := range p.Namespaces {
			bindings = append(bindings, &rbacv1.RoleBinding{
				TypeMeta:   metav1.TypeMeta{APIVersion: rbacv1.SchemeGroupVersion.String(), Kind: "RoleBinding"},
				ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: role.Name}, RoleRef: ref, Subjects: subjects(account),
			})
		}
	}
	return bindings
}
