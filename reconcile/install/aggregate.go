package install

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	rbacv1 "k8s.io/api/rbac/v1"

	"github.com/reconcilekit/reconcilekit/reconcile/controller/dataflow"
)

// The verbs of writes in the rules of a page.
const (
	verbCreate = "create"
	verbPatch  = "patch"
	verbUpdate = "update"
	verbAll    = "*"
)

// aggregate decides for each kind whether its editor role is aggregated to the roles edit and admin, and sets the reasons
// if it is not.
func (c Config) aggregate(page dataflow.Page, kinds []resource) error {
	reasons := map[string][]string{}
	for changed := true; changed; { // until no kind has new reasons, as kinds inherit them from the kinds that their controllers create
		changed = false
		for _, kind := range kinds {
			found := reach(page, kind, reasons)
			changed = changed || len(found) != len(reasons[kind.name()])
			reasons[kind.name()] = found
		}
	}
	unknown := maps.Clone(c.Aggregate)
	for i := range kinds {
		name := kinds[i].name()
		wanted, set := c.Aggregate[name]
		switch {
		case set && wanted:
		case set:
			kinds[i].Reasons = []string{"the option Aggregate excludes it"}
		default:
			kinds[i].Reasons = reasons[name]
		}
		delete(unknown, name)
	}
	var errs []error
	for _, name := range slices.Sorted(maps.Keys(unknown)) {
		errs = append(errs, fmt.Errorf("install: Config.Aggregate %q: want the resource and group of a kind that the operator reconciles, as in %q",
			name, "websites.example.com"))
	}
	return errors.Join(errs...)
}

// reach returns the operations of the operator that an owner of the kind can cause and that the role edit in one namespace
// does not permit, if the page shows them. The argument others contains the reasons of the other kinds.
func reach(page dataflow.Page, kind resource, others map[string][]string) []string {
	var reasons []string
	for _, rule := range page.ExtraRules {
		if what := escalates(rule); what != "" {
			reasons = append(reasons, "the operator may "+what)
		}
	}
	for _, c := range page.Controllers {
		if !concerns(c, kind) {
			continue
		}
		for _, rule := range c.Rules {
			if what := escalates(rule); what != "" {
				reasons = append(reasons, c.Controller+" may "+what)
			}
			if !slices.ContainsFunc(rule.Verbs, creates) {
				continue
			}
			for _, group := range rule.APIGroups {
				for _, name := range rule.Resources {
					if other := (resource{Group: group, Resource: name}); len(others[other.name()]) > 0 && other.name() != kind.name() {
						reasons = append(reasons, c.Controller+" creates "+name)
					}
				}
			}
		}
		for _, outside := range c.External {
			reasons = append(reasons, c.Controller+" changes "+outside.Kind+" outside the cluster")
		}
		if len(page.Namespaces) != 1 { // with one namespace the operator cannot write to another one
			reasons = append(reasons, elsewhere(c)...)
		}
	}
	slices.Sort(reasons)
	return slices.Compact(reasons)
}

// concerns reports whether the controller reconciles or reads the kind.
func concerns(c dataflow.Description, kind resource) bool {
	return slices.ContainsFunc(c.Rules, func(rule rbacv1.PolicyRule) bool {
		return slices.Contains(rule.APIGroups, kind.Group) && slices.Contains(rule.Resources, kind.Resource)
	})
}

// escalates returns the permission of a rule that the role edit does not have: permissions to grant permissions,
// namespaces, and cluster-wide resources. It is empty for a rule without one.
func escalates(rule rbacv1.PolicyRule) string {
	groups := func(names ...string) bool {
		return slices.ContainsFunc(rule.APIGroups, func(group string) bool { return group == verbAll || slices.Contains(names, group) })
	}
	resources := strings.Join(rule.Resources, ", ")
	for _, verb := range rule.Verbs {
		switch {
		case verb == "bind" || verb == "escalate" || verb == "impersonate":
			return verb + " " + resources
		case !creates(verb) && verb != verbPatch && verb != verbUpdate:
		case groups(rbacv1.GroupName, "admissionregistration.k8s.io", "apiextensions.k8s.io", "apiregistration.k8s.io"):
			return verb + " " + resources
		case groups("") && slices.ContainsFunc(rule.Resources, func(name string) bool {
			return name == verbAll || name == "namespaces" || name == "nodes" || name == "persistentvolumes" || name == "serviceaccounts/token"
		}):
			return verb + " " + resources
		}
	}
	return ""
}

// creates reports whether the verb creates objects.
func creates(verb string) bool { return verb == verbCreate || verb == verbAll }

// elsewhere returns the reasons why the controller may write outside the owner's namespace. A page does not contain the
// namespaces of planned objects, so the reasons are the declarations that such writes need.
func elsewhere(c dataflow.Description) (reasons []string) {
	owned, owner := map[string]bool{}, ""
	for _, watch := range c.Watches {
		switch watch.Type {
		case "For":
			owner = watch.GVK
		case "Owns":
			owned[watch.GVK] = true
		}
	}
	if owner == "" && writesAnything(c) {
		reasons = append(reasons, c.Controller+" reconciles groups, which have no namespace")
	}
	for _, access := range c.Access {
		if access.GVK == owner {
			continue
		}
		if slices.Contains(access.Finalize, "delete") {
			reasons = append(reasons, c.Controller+" deletes children in Finalize, because they can be in other namespaces")
		}
		if len(access.Apply) > 0 && !owned[access.GVK] && owner != "" {
			reasons = append(reasons, c.Controller+" writes "+access.GVK[strings.LastIndex(access.GVK, "/")+1:]+" that it does not own")
		}
	}
	return reasons
}

func writesAnything(c dataflow.Description) bool {
	return slices.ContainsFunc(c.Access, func(access dataflow.Access) bool { return len(access.Apply) > 0 })
}
