package rights_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	rbacv1 "k8s.io/api/rbac/v1"

	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/internal/rights"
	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/requests"
)

// rule allows verbs on resources of the group apps.
func rule(verbs, resources []string, names ...string) rbacv1.PolicyRule {
	return rbacv1.PolicyRule{APIGroups: []string{"apps"}, Resources: resources, Verbs: verbs, ResourceNames: names}
}

// TestAllowed checks that rules allow the same requests as in the RBAC authoriser of Kubernetes.
func TestAllowed(t *testing.T) {
	t.Parallel()
	request := func(verb, subresource, name string) requests.Request {
		return requests.Request{Verb: verb, Group: "apps", Resource: "deployments", Subresource: subresource, Namespace: "default", Name: name}
	}
	one := []string{"deployments"}
	for name, c := range map[string]struct {
		rule    rbacv1.PolicyRule
		request requests.Request
		want    bool
	}{
		"the verb":                                       {rule([]string{"update"}, one), request("update", "", "web"), true},
		"another verb":                                   {rule([]string{"update"}, one), request("delete", "", "web"), false},
		"all verbs":                                      {rule([]string{"*"}, one), request("delete", "", "web"), true},
		"an apply is a patch":                            {rule([]string{"patch"}, one), request("apply", "", "web"), true},
		"an apply is not an update":                      {rule([]string{"update", "apply"}, one), request("apply", "", "web"), false},
		"another resource":                               {rule([]string{"get"}, []string{"daemonsets"}), request("get", "", "web"), false},
		"all resources":                                  {rule([]string{"get"}, []string{"*"}), request("get", "", "web"), true},
		"all resources and subresources":                 {rule([]string{"get"}, []string{"*"}), request("get", "status", "web"), true},
		"a subresource":                                  {rule([]string{"update"}, []string{"deployments/status"}), request("update", "status", "web"), true},
		"the resource of a subresource":                  {rule([]string{"update"}, one), request("update", "status", "web"), false},
		"a subresource of the resource":                  {rule([]string{"update"}, []string{"deployments/status"}), request("update", "", "web"), false},
		"the subresource of all":                         {rule([]string{"update"}, []string{"*/status"}), request("update", "status", "web"), true},
		"another subresource of all":                     {rule([]string{"update"}, []string{"*/scale"}), request("update", "status", "web"), false},
		"no subresource of all":                          {rule([]string{"update"}, []string{"*/"}), request("update", "", "web"), false},
		"all subresources of a resource":                 {rule([]string{"update"}, []string{"deployments/*"}), request("update", "status", "web"), false}, // RBAC has none
		"the name":                                       {rule([]string{"get"}, one, "web", "shop"), request("get", "", "shop"), true},
		"another name":                                   {rule([]string{"get"}, one, "web"), request("get", "", "shop"), false},
		"a list with a resource name":                    {rule([]string{"list"}, one, "web"), request("list", "", ""), false},
		"a create with a resource name":                  {rule([]string{"create"}, one, "web"), request("create", "", "web"), false},
		"a create of a subresource with a resource name": {rule([]string{"create"}, []string{"deployments/token"}, "web"), request("create", "token", "web"), true},
		"another group":                                  {rbacv1.PolicyRule{APIGroups: []string{""}, Resources: one, Verbs: []string{"get"}}, request("get", "", "web"), false},
		"all groups":                                     {rbacv1.PolicyRule{APIGroups: []string{"*"}, Resources: one, Verbs: []string{"get"}}, request("get", "", "web"), true},
		"a non-resource path":                            {rbacv1.PolicyRule{NonResourceURLs: []string{"*"}, Verbs: []string{"get"}}, request("get", "", "web"), false},
		"verb and resource of different rules":           {rule(nil, one), request("get", "", "web"), false},
	} {
		if got := rights.Allowed([]rbacv1.PolicyRule{rule([]string{"get"}, []string{"statefulsets"}), c.rule}, c.request); got != c.want {
			t.Errorf("%s: %t, want %t", name, got, c.want)
		}
	}
	if rights.Allowed(nil, request("get", "", "web")) {
		t.Error("no rules allow a request")
	}
}

// TestAllowedToMake checks that an apply that creates its object also needs the permission to create it.
func TestAllowedToMake(t *testing.T) {
	t.Parallel()
	one := []string{"deployments"}
	for name, c := range map[string]struct {
		rule rbacv1.PolicyRule
		verb string
		sub  string
		want bool
	}{
		"an apply with both permissions": {rule([]string{"patch", "create"}, one), "apply", "", true},
		"an apply with one permission":   {rule([]string{"patch"}, one), "apply", "", false},
		"an apply to a name":             {rule([]string{"patch", "create"}, one, "web"), "apply", "", true},
		"an apply to another name":       {rule([]string{"patch", "create"}, one, "shop"), "apply", "", false},
		"an apply of a status":           {rule([]string{"patch"}, one), "apply", "status", true},
		"a patch, which does not create": {rule([]string{"patch"}, one), "patch", "", true},
		"an update":                      {rule([]string{"update"}, one), "update", "", true},
	} {
		request := requests.Request{Verb: c.verb, Group: "apps", Resource: "deployments", Subresource: c.sub, Name: "web"}
		if got := rights.AllowedToMake([]rbacv1.PolicyRule{c.rule}, request); got != c.want {
			t.Errorf("%s: %t, want %t", name, got, c.want)
		}
	}
}

// TestRightsOf checks that rules are split into single permissions, sorted and without duplicates.
func TestRightsOf(t *testing.T) {
	t.Parallel()
	rules := []rbacv1.PolicyRule{
		{APIGroups: []string{"apps", ""}, Resources: []string{"deployments/status"}, Verbs: []string{"patch", "get"}},
		{APIGroups: []string{""}, Resources: []string{"secrets"}, Verbs: []string{"watch"}},
		{APIGroups: []string{""}, Resources: []string{"secrets"}, Verbs: []string{"watch"}},
		{NonResourceURLs: []string{"/metrics"}, Verbs: []string{"get"}},
	}
	var got []string
	for _, one := range rights.RightsOf(rules) {
		got = append(got, one.String())
	}
	want := []string{"get deployments/status", "patch deployments/status", "watch secrets", "get apps/deployments/status", "patch apps/deployments/status"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestFrom checks that rules without one permission still allow all other requests.
func TestFrom(t *testing.T) {
	t.Parallel()
	rules := []rbacv1.PolicyRule{
		{APIGroups: []string{"", "apps"}, Resources: []string{"secrets", "pods"}, Verbs: []string{"get", "list"}, ResourceNames: []string{"a"}},
		{APIGroups: []string{""}, Resources: []string{"secrets"}, Verbs: []string{"get"}},
	}
	taken := rights.Right{Verb: "get", Resource: "secrets"}
	less := taken.From(rules)
	var want []rights.Right
	for _, one := range rights.RightsOf(rules) {
		if one != taken {
			want = append(want, one)
		}
	}
	if diff := cmp.Diff(want, rights.RightsOf(less)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	for _, one := range less {
		if diff := cmp.Diff([]string{"a"}, one.ResourceNames); diff != "" {
			t.Errorf("the names of %v (-want +got):\n%s", one, diff)
		}
	}
	if len(rules[0].Verbs) != 2 || rules[0].Verbs[0] != "get" || rules[0].Verbs[1] != "list" {
		t.Errorf("the rules were changed to %v", rules)
	}
	if other := (rights.Right{Verb: "delete", Resource: "secrets"}).From(rules); len(rights.RightsOf(other)) != 8 {
		t.Errorf("without a missing permission: %v", other)
	}
}
