package rights

import (
	"errors"
	"slices"

	rbacv1 "k8s.io/api/rbac/v1"

	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/requests"
)

// ErrNotDeclared is wrapped by the Forbidden error of a request that [System.Rules] do not allow.
var ErrNotDeclared = errors.New("the System.Rules do not allow it")

// Allowed reports whether one of the rules allows the request, by the logic of Kubernetes' RBAC authoriser.
func Allowed(rules []rbacv1.PolicyRule, request requests.Request) bool {
	if request.Verb == "create" && request.Subresource == "" {
		request.Name = "" // the authoriser does not know it
	}
	return covered(rules, VerbOf(request), request)
}

// AllowedToMake reports whether the rules also allow the create that an apply to a missing object implies: an API server checks both
// permissions, this one with the name of the object. Other requests create nothing.
func AllowedToMake(rules []rbacv1.PolicyRule, request requests.Request) bool {
	return request.Verb != "apply" || request.Subresource != "" || covered(rules, "create", request)
}

func covered(rules []rbacv1.PolicyRule, verb string, request requests.Request) bool {
	resource := ResourceOf(request)
	return slices.ContainsFunc(rules, func(rule rbacv1.PolicyRule) bool {
		return covers(rule.Verbs, verb) && covers(rule.APIGroups, request.Group) &&
			(covers(rule.Resources, resource) ||
				request.Subresource != "" && slices.Contains(rule.Resources, "*/"+request.Subresource)) &&
			(len(rule.ResourceNames) == 0 || request.Name != "" && slices.Contains(rule.ResourceNames, request.Name))
	})
}

func covers(granted []string, wanted string) bool {
	return slices.Contains(granted, "*") || slices.Contains(granted, wanted)
}

// VerbOf returns the RBAC verb of a request: an apply is a patch.
func VerbOf(request requests.Request) string {
	if request.Verb == "apply" {
		return "patch"
	}
	return request.Verb
}

// ResourceOf returns the RBAC resource of a request, with its subresource.
func ResourceOf(request requests.Request) string {
	if request.Subresource != "" {
		return request.Resource + "/" + request.Subresource
	}
	return request.Resource
}
