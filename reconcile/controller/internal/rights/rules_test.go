package rights_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/reconcilekit/reconcilekit/reconcile/controller/internal/rights"
)

// TestCompact checks that resources of a group with the same verbs share a rule, with each verb once and in the usual order.
func TestCompact(t *testing.T) {
	t.Parallel()
	got := rights.Compact(map[schema.GroupResource][]string{
		{Resource: "pods"}:                  {"watch", "list", "list"},
		{Resource: "nodes"}:                 {"list", "watch"},
		{Resource: "secrets"}:               {"delete", "get"},
		{Group: "apps", Resource: "scales"}: {"list", "watch"},
	})
	want := []rbacv1.PolicyRule{
		{APIGroups: []string{""}, Resources: []string{"nodes", "pods"}, Verbs: []string{"list", "watch"}},
		{APIGroups: []string{""}, Resources: []string{"secrets"}, Verbs: []string{"get", "delete"}},
		{APIGroups: []string{"apps"}, Resources: []string{"scales"}, Verbs: []string{"list", "watch"}},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("rules (-want +got):\n%s", diff)
	}
}

// TestJoinGivesNoMore checks that a rule for named objects or paths is not combined with rules for all objects, and that no verb is lost.
func TestJoinGivesNoMore(t *testing.T) {
	t.Parallel()
	roles := rbacv1.PolicyRule{APIGroups: []string{"rbac"}, Resources: []string{"roles"}, Verbs: []string{"bind", "get"}, ResourceNames: []string{"b", "a"}}
	got := rights.Join(
		[]rbacv1.PolicyRule{roles, {NonResourceURLs: []string{"/metrics"}, Verbs: []string{"get"}}},
		[]rbacv1.PolicyRule{roles, {APIGroups: []string{"rbac"}, Resources: []string{"roles"}, Verbs: []string{"escalate", "list"}}},
		[]rbacv1.PolicyRule{{APIGroups: []string{"", "apps"}, Resources: []string{"scales"}, Verbs: []string{"*"}, ResourceNames: []string{"x"}}},
	)
	want := []rbacv1.PolicyRule{
		{NonResourceURLs: []string{"/metrics"}, Verbs: []string{"get"}},
		{APIGroups: []string{""}, Resources: []string{"scales"}, Verbs: []string{"*"}, ResourceNames: []string{"x"}},
		{APIGroups: []string{"apps"}, Resources: []string{"scales"}, Verbs: []string{"*"}, ResourceNames: []string{"x"}},
		{APIGroups: []string{"rbac"}, Resources: []string{"roles"}, Verbs: []string{"list", "escalate"}},
		{APIGroups: []string{"rbac"}, Resources: []string{"roles"}, Verbs: []string{"get", "bind"}, ResourceNames: []string{"a", "b"}},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("rules (-want +got):\n%s", diff)
	}
}
