package routing

import (
	"fmt"
	"regexp"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"

	"github.com/reconcilekit/reconcilekit/routing/internal/problem"
)

// Limits of the HTTPRoute CRD, Gateway API v1.
const (
	maxParents        = 32
	maxHostnames      = 16
	maxRules          = 16
	maxMatches        = 64
	maxMatchesTotal   = 128
	maxValueMatches   = 16
	maxHeaderName     = 256
	maxHeaderValue    = 4096
	maxQueryValue     = 1024
	maxSetHeaders     = 16
	maxBackends       = 16
	maxWeight         = 1000000
	maxPathLength     = 1024
	maxSegment        = 63 // a DNS-1123 label (RFC 1123 section 2.1), or a kind
	maxSubdomain      = 253
	maxReportedFaults = 5
)

var (
	subdomainPattern  = regexp.MustCompile(`^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$`)
	hostnamePattern   = regexp.MustCompile(`^(\*\.)?[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$`)
	labelPattern      = regexp.MustCompile(`^[a-z0-9]([-a-z0-9]*[a-z0-9])?$`)
	kindPattern       = regexp.MustCompile(`^[a-zA-Z]([-a-zA-Z0-9]*[a-zA-Z0-9])?$`)
	headerNamePattern = regexp.MustCompile("^[A-Za-z0-9!#$%&'*+\\-.^_\x60|~]+$")
	pathPattern       = regexp.MustCompile(`^(?:[-A-Za-z0-9/._~!$&'()*+,;=:@]|[%][0-9a-fA-F]{2})+$`)
)

// validateRoute reports all problems of the plan in one error.
func validateRoute(plan *Route) error {
	faults := validateMetadata(plan)
	spec := field.NewPath("spec")
	faults = append(faults, validateParents(plan.Parents, spec.Child("parentRefs"))...)
	faults = append(faults, atMost(len(plan.Hostnames), maxHostnames, spec.Child("hostnames"))...)
	for i, hostname := range plan.Hostnames {
		faults = append(faults, validateText(hostname, maxSubdomain, hostnamePattern, spec.Child("hostnames").Index(i),
			`must be a lower-case DNS name, whose first label may be "*"`)...)
	}
	faults = append(faults, validateRules(plan.Rules, spec.Child("rules"))...)
	if len(faults) == 0 {
		return nil
	}
	texts := make([]string, 0, maxReportedFaults+1)
	for i, fault := range faults {
		if i == maxReportedFaults {
			texts = append(texts, fmt.Sprintf("and %d more", len(faults)-i))
			break
		}
		texts = append(texts, problem.Shorten(fault.Error()))
	}
	return problem.Invalid(reasonRouteInvalid, faults.ToAggregate(), "HTTPRoute %s/%s: %s", plan.Namespace, plan.Name, strings.Join(texts, "; "))
}

func validateMetadata(plan *Route) field.ErrorList {
	metadata := field.NewPath("metadata")
	faults := validateText(plan.Namespace, maxSegment, labelPattern, metadata.Child("namespace"), "must be a DNS-1123 label")
	faults = append(faults, validateText(plan.Name, maxSubdomain, subdomainPattern, metadata.Child("name"), "must be a DNS-1123 subdomain")...)
	for _, key := range sortedKeys(plan.Labels) {
		for _, problem := range validation.IsQualifiedName(key) {
			faults = append(faults, field.Invalid(metadata.Child("labels"), key, problem))
		}
		for _, problem := range validation.IsValidLabelValue(plan.Labels[key]) {
			faults = append(faults, field.Invalid(metadata.Child("labels").Key(key), plan.Labels[key], problem))
		}
	}
	for _, key := range sortedKeys(plan.Annotations) {
		for _, problem := range validation.IsQualifiedName(strings.ToLower(key)) {
			faults = append(faults, field.Invalid(metadata.Child("annotations"), key, problem))
		}
	}
	return faults
}

func validateParents(parents []gatewayv1.ParentReference, path *field.Path) field.ErrorList {
	var faults field.ErrorList
	if len(parents) == 0 {
		faults = append(faults, field.Required(path, "name the gateway that serves the route"))
	}
	faults = append(faults, atMost(len(parents), maxParents, path)...)
	for i := range parents {
		parent, at := &parents[i], path.Index(i)
		if parent.Group != nil && *parent.Group != "" {
			faults = append(faults, validateText(string(*parent.Group), maxSubdomain, subdomainPattern, at.Child("group"), "must be a DNS name")...)
		}
		if parent.Kind != nil {
			faults = append(faults, validateText(string(*parent.Kind), maxSegment, kindPattern, at.Child("kind"), "must be a kind such as Gateway")...)
		}
		if parent.Namespace != nil {
			faults = append(faults, validateText(string(*parent.Namespace), maxSegment, labelPattern, at.Child("namespace"), "must be a DNS-1123 label")...)
		}
		faults = append(faults, validateText(string(parent.Name), maxSubdomain, nil, at.Child("name"), "must name the parent")...)
		if parent.SectionName != nil && *parent.SectionName != "" {
			faults = append(faults, validateText(string(*parent.SectionName), maxSubdomain, subdomainPattern, at.Child("sectionName"), "must be the name of a listener")...)
		}
		if parent.Port != nil {
			faults = append(faults, validatePort(*parent.Port, at.Child("port"))...)
		}
		for j := range i {
			faults = append(faults, validatePair(&parents[j], parent, at)...)
		}
	}
	return faults
}

// validatePair compares two references as the CRD of the standard channel does: it compares the written values, an absent namespace only
// with an absent one.
func validatePair(a, b *gatewayv1.ParentReference, at *field.Path) field.ErrorList {
	if value(a.Group, gatewayv1.GroupName) != value(b.Group, gatewayv1.GroupName) || value(a.Kind, "Gateway") != value(b.Kind, "Gateway") ||
		value(a.Namespace, "") != value(b.Namespace, "") || a.Name != b.Name {
		return nil
	}
	first, second := value(a.SectionName, ""), value(b.SectionName, "")
	switch {
	case first == second:
		return field.ErrorList{field.Duplicate(at, describeParent(b, ""))}
	case first == "" || second == "":
		return field.ErrorList{field.Required(at.Child("sectionName"), "every reference to one parent needs a sectionName when there are several")}
	case (a.Port == nil) != (b.Port == nil):
		return field.ErrorList{field.Required(at.Child("port"), "all references to one parent have a port, or none")}
	}
	return nil
}

func validateRules(rules []Rule, path *field.Path) field.ErrorList {
	var faults field.ErrorList
	if len(rules) == 0 {
		faults = append(faults, field.Required(path, "set at least one rule: without rules, the API server adds one that matches every path"))
	}
	faults = append(faults, atMost(len(rules), maxRules, path)...)
	names := map[string]bool{}
	total := 0
	for i := range rules {
		rule, at := &rules[i], path.Index(i)
		total += len(rule.Matches)
		if rule.Name != "" {
			faults = append(faults, validateText(rule.Name, maxSubdomain, subdomainPattern, at.Child("name"), "must be a DNS-1123 subdomain")...)
			if names[rule.Name] {
				faults = append(faults, field.Duplicate(at.Child("name"), rule.Name))
			}
			names[rule.Name] = true
		}
		faults = append(faults, validateRule(rule, at)...)
	}
	if total > maxMatchesTotal {
		faults = append(faults, field.Invalid(path, total, fmt.Sprintf("all rules together may have at most %d matches", maxMatchesTotal)))
	}
	return faults
}

func validateRule(rule *Rule, at *field.Path) field.ErrorList {
	var faults field.ErrorList
	matches := at.Child("matches")
	if len(rule.Matches) == 0 {
		faults = append(faults, field.Required(matches, `set the path "/" to match every request`))
	}
	faults = append(faults, atMost(len(rule.Matches), maxMatches, matches)...)
	for i := range rule.Matches {
		faults = append(faults, validateMatch(&rule.Matches[i], matches.Index(i))...)
	}
	faults = append(faults, validateFilters(rule, at.Child("filters"))...)
	faults = append(faults, validateTimeouts(rule, at.Child("timeouts"))...)
	faults = append(faults, atMost(len(rule.Backends), maxBackends, at.Child("backendRefs"))...)
	for i := range rule.Backends {
		faults = append(faults, validateBackend(&rule.Backends[i], at.Child("backendRefs").Index(i))...)
	}
	return faults
}

func validateFilters(rule *Rule, path *field.Path) field.ErrorList {
	var faults field.ErrorList
	if rule.ReplacePrefix != nil {
		if len(rule.Matches) != 1 || rule.Matches[0].Path == "" || rule.Matches[0].pathType() != gatewayv1.PathMatchPathPrefix {
			faults = append(faults, field.Forbidden(path, "replacing the prefix needs exactly one match, with a path prefix"))
		}
		if length := len(*rule.ReplacePrefix); length > maxPathLength {
			faults = append(faults, field.TooLong(path, "", maxPathLength))
		}
	}
	if rule.Hostname != "" {
		faults = append(faults, validateText(rule.Hostname, maxSubdomain, subdomainPattern, path.Child("hostname"), "must be a DNS name without wildcard")...)
	}
	headers := path.Child("set")
	faults = append(faults, atMost(len(rule.SetHeaders), maxSetHeaders, headers)...)
	names := map[string]bool{}
	for i, header := range rule.SetHeaders {
		faults = append(faults, validateNamed(header.Name, header.Value, maxHeaderValue, strings.ToLower(header.Name), names, headers.Index(i))...)
	}
	return faults
}

func validateTimeouts(rule *Rule, path *field.Path) field.ErrorList {
	var faults field.ErrorList
	parse := func(value *gatewayv1.Duration, at *field.Path) (parsed int64) {
		if value == nil {
			return 0
		}
		duration, err := parseGroups(string(*value))
		if err != nil {
			faults = append(faults, field.Invalid(at, string(*value), err.Error()+": "+timeoutAdvice))
		}
		return int64(duration)
	}
	request := parse(rule.Timeout, path.Child("request"))
	backend := parse(rule.BackendTimeout, path.Child("backendRequest"))
	if rule.Timeout != nil && request != 0 && backend > request {
		faults = append(faults, field.Invalid(path.Child("backendRequest"), string(*rule.BackendTimeout),
			fmt.Sprintf("must not be longer than the request timeout %s", *rule.Timeout)))
	}
	return faults
}
