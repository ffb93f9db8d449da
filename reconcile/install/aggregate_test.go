package install_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	rbacv1 "k8s.io/api/rbac/v1"

	"github.com/reconcilekit/reconcilekit/reconcile/controller/dataflow"
	"github.com/reconcilekit/reconcilekit/reconcile/install"
)

const bookGVK = "example.com/v1/Book"

// shelf is a page with one controller of books that writes ConfigMaps in the namespace of the book.
func shelf(change func(*dataflow.Page)) dataflow.Page {
	page := dataflow.Page{
		Name: "library", CRDs: []string{"Book (example.com/v1)"},
		Controllers: []dataflow.Description{{
			Controller: "book",
			Watches:    []dataflow.Watch{{Type: "For", GVK: bookGVK}, {Type: "Owns", GVK: "/v1/ConfigMap"}},
			Access: []dataflow.Access{
				{GVK: bookGVK, Apply: []string{"patch metadata"}, Finalize: []string{"patch metadata"}},
				{GVK: "/v1/ConfigMap", Apply: []string{"create", "patch", "delete"}},
			},
			Rules: []rbacv1.PolicyRule{
				allow("example.com", "books", "get", "list", "watch", "patch"), allow("example.com", "books/status", "patch"),
				allow("", "configmaps", "get", "list", "watch", "create", "patch", "delete"),
			},
		}},
	}
	change(&page)
	return page
}

func allow(group, resource string, verbs ...string) rbacv1.PolicyRule {
	return rbacv1.PolicyRule{APIGroups: []string{group}, Resources: []string{resource}, Verbs: verbs}
}

// TestAggregate checks that the editor role of a kind is aggregated to edit and admin only if its owners have no effect outside of their namespace.
func TestAggregate(t *testing.T) {
	t.Parallel()
	rule := func(group, resource string, verbs ...string) func(*dataflow.Page) {
		return func(p *dataflow.Page) {
			p.Controllers[0].Rules = append(p.Controllers[0].Rules, allow(group, resource, verbs...))
		}
	}
	extra := func(group, resource string, verbs ...string) func(*dataflow.Page) {
		return func(p *dataflow.Page) { p.ExtraRules = append(p.ExtraRules, allow(group, resource, verbs...)) }
	}
	nothing := func(*dataflow.Page) {}
	finalizes := func(p *dataflow.Page) { p.Controllers[0].Access[1].Finalize = []string{"create", "patch", "delete"} }
	group := func(rules ...rbacv1.PolicyRule) func(*dataflow.Page) {
		return func(p *dataflow.Page) {
			p.Controllers = append(p.Controllers, dataflow.Description{
				Controller: "shelf", Watches: []dataflow.Watch{{Type: "Watches", GVK: bookGVK}},
				Access: []dataflow.Access{{GVK: "/v1/Service", Apply: []string{"create"}}}, Rules: rules,
			})
		}
	}
	for name, c := range map[string]struct {
		change    func(*dataflow.Page)
		aggregate map[string]bool
		want      []string
	}{
		"children of its own namespace":       {change: nothing},
		"reads RBAC":                          {change: rule(rbacv1.GroupName, "roles", "get", "list", "watch")},
		"writes roles":                        {change: rule(rbacv1.GroupName, "roles", "create"), want: []string{"book may create roles"}},
		"binds roles":                         {change: extra(rbacv1.GroupName, "clusterroles", "bind"), want: []string{"the operator may bind clusterroles"}},
		"impersonates":                        {change: extra("", "users", "impersonate"), want: []string{"the operator may impersonate users"}},
		"creates namespaces":                  {change: rule("", "namespaces", "create"), want: []string{"book may create namespaces"}},
		"labels namespaces":                   {change: rule("", "namespaces", "patch"), want: []string{"book may patch namespaces"}},
		"creates tokens":                      {change: extra("", "serviceaccounts/token", "create"), want: []string{"the operator may create serviceaccounts/token"}},
		"writes webhooks":                     {change: rule("admissionregistration.k8s.io", "validatingwebhookconfigurations", "update"), want: []string{"book may update validatingwebhookconfigurations"}},
		"reviews tokens":                      {change: extra("authentication.k8s.io", "tokenreviews", "create")},
		"may do everything":                   {change: extra("*", "*", "*"), want: []string{"the operator may * *"}},
		"deletes in Finalize":                 {change: finalizes, want: []string{"book deletes children in Finalize, because they can be in other namespaces"}},
		"deletes, restricted to one":          {change: func(p *dataflow.Page) { finalizes(p); p.Namespaces = []string{"one"} }},
		"deletes, restricted to two":          {change: func(p *dataflow.Page) { finalizes(p); p.Namespaces = []string{"one", "two"} }, want: []string{"book deletes children in Finalize, because they can be in other namespaces"}},
		"writes objects that it does not own": {change: func(p *dataflow.Page) { p.Controllers[0].Watches = p.Controllers[0].Watches[:1] }, want: []string{"book writes ConfigMap that it does not own"}},
		"changes resources outside the cluster": {
			change: func(p *dataflow.Page) { p.Controllers[0].External = []dataflow.External{{Kind: "Row"}} },
			want:   []string{"book changes Row outside the cluster"},
		},
		"a group that reads the kind": {change: group(allow("example.com", "books", "list", "watch")), want: []string{"shelf reconciles groups, which have no namespace"}},
		"a group of other kinds":      {change: group(allow("example.com", "magazines", "list", "watch"))},
		"another controller that reads the kind": {change: func(p *dataflow.Page) {
			group(allow("example.com", "books", "list"), allow(rbacv1.GroupName, "rolebindings", "patch"))(p)
			p.Namespaces = []string{"one"}
		}, want: []string{"shelf may patch rolebindings"}},
		"the option includes it": {change: rule(rbacv1.GroupName, "roles", "create"), aggregate: map[string]bool{"books.example.com": true}},
		"the option excludes it": {change: nothing, aggregate: map[string]bool{"books.example.com": false}, want: []string{"the option Aggregate excludes it"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			files, err := install.Files(shelf(c.change), install.Config{Aggregate: c.aggregate})
			if err != nil {
				t.Fatal(err)
			}
			var reasons []string
			for line := range strings.Lines(files["config/rbac/users.yaml"]) {
				if reason, found := strings.CutPrefix(strings.TrimSpace(line), "# Not part of edit and admin: "); found {
					reasons = append(reasons, strings.TrimSuffix(reason, "."))
				}
			}
			if diff := cmp.Diff(c.want, reasons); diff != "" {
				t.Errorf("reasons (-want +got):\n%s", diff)
			}
			for _, object := range objects(t, "users", files["config/rbac/users.yaml"]) {
				_, edit := object.GetLabels()["rbac.authorization.k8s.io/aggregate-to-edit"]
				_, admin := object.GetLabels()["rbac.authorization.k8s.io/aggregate-to-admin"]
				want := strings.HasSuffix(object.GetName(), "-editor") && len(c.want) == 0
				if edit != want || admin != want {
					t.Errorf("%s is part of edit: %t, of admin: %t, want %t", object.GetName(), edit, admin, want)
				}
			}
		})
	}
}

// TestAggregateThroughOwners checks that a kind counts as writing RBAC if its controller creates owners of such a kind.
func TestAggregateThroughOwners(t *testing.T) {
	t.Parallel()
	page := shelf(func(p *dataflow.Page) {
		p.CRDs = append(p.CRDs, "Order (example.com/v1)")
		p.Controllers[0].Rules = append(p.Controllers[0].Rules, allow(rbacv1.GroupName, "roles", "create"))
		p.Controllers = append(p.Controllers, dataflow.Description{
			Controller: "order", Watches: []dataflow.Watch{{Type: "For", GVK: "example.com/v1/Order"}, {Type: "Owns", GVK: bookGVK}},
			Rules: []rbacv1.PolicyRule{allow("example.com", "orders/status", "patch"), allow("example.com", "orders", "get"), allow("example.com", "books", "create")},
		})
	})
	files, err := install.Files(page, install.Config{})
	if err != nil {
		t.Fatal(err)
	}
	if text := files["config/rbac/users.yaml"]; strings.Contains(text, "aggregate-to-edit") || !strings.Contains(text, "order creates books") {
		t.Errorf("got:\n%s", text)
	}
}

// TestAggregateUnknown checks that the option must name a kind that the operator reconciles.
func TestAggregateUnknown(t *testing.T) {
	t.Parallel()
	_, err := install.Files(shelf(func(*dataflow.Page) {}), install.Config{Aggregate: map[string]bool{"book": true}})
	if err == nil || !strings.Contains(err.Error(), `Config.Aggregate "book": want the resource and group`) {
		t.Errorf("got %v", err)
	}
}
