package routing

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"k8s.io/apimachinery/pkg/util/validation/field"
	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"
)

// httpMethods are the methods that an HTTPRoute can match.
var httpMethods = []gatewayv1.HTTPMethod{ //nolint:gochecknoglobals // a constant
	gatewayv1.HTTPMethodConnect, gatewayv1.HTTPMethodDelete, gatewayv1.HTTPMethodGet, gatewayv1.HTTPMethodHead,
	gatewayv1.HTTPMethodOptions, gatewayv1.HTTPMethodPatch, gatewayv1.HTTPMethodPost, gatewayv1.HTTPMethodPut, gatewayv1.HTTPMethodTrace,
}

func validateMatch(match *Match, at *field.Path) field.ErrorList {
	var faults field.ErrorList
	switch {
	case match.Path != "":
		faults = validatePathMatch(match, at.Child("path"))
	case match.PathType != "":
		faults = append(faults, field.Required(at.Child("path", "value"), "a path type needs a path"))
	case len(match.Headers) == 0 && len(match.Query) == 0 && match.Method == "":
		faults = append(faults, field.Required(at, `set a path, headers, a query or a method; the path "/" matches every request`))
	}
	if match.Method != "" && !slices.Contains(httpMethods, match.Method) {
		faults = append(faults, field.NotSupported(at.Child("method"), match.Method, httpMethods))
	}
	faults = append(faults, validateValues(match.Headers, maxHeaderValue, strings.ToLower, at.Child("headers"))...)
	exactName := func(name string) string { return name }
	return append(faults, validateValues(match.Query, maxQueryValue, exactName, at.Child("queryParams"))...)
}

func validatePathMatch(match *Match, at *field.Path) field.ErrorList {
	var faults field.ErrorList
	value := at.Child("value")
	if utf8.RuneCountInString(match.Path) > maxPathLength {
		faults = append(faults, field.TooLong(value, "", maxPathLength))
	}
	switch match.pathType() {
	case gatewayv1.PathMatchRegularExpression:
		return faults
	case gatewayv1.PathMatchExact, gatewayv1.PathMatchPathPrefix:
		if problem := pathProblem(match.Path); problem != "" {
			faults = append(faults, field.Invalid(value, match.Path, problem))
		}
		return faults
	default:
		supported := []gatewayv1.PathMatchType{gatewayv1.PathMatchExact, gatewayv1.PathMatchPathPrefix, gatewayv1.PathMatchRegularExpression}
		return append(faults, field.NotSupported(at.Child("type"), match.PathType, supported))
	}
}

// pathProblem describes why the HTTPRoute CRD rejects an exact or prefix path; empty if it accepts it.
func pathProblem(path string) string {
	if !strings.HasPrefix(path, "/") {
		return `must start with "/"`
	}
	for _, part := range []string{"//", "/./", "/../", "%2f", "%2F", "#"} {
		if strings.Contains(path, part) {
			return fmt.Sprintf("must not contain %q", part)
		}
	}
	for _, end := range []string{"/..", "/."} {
		if strings.HasSuffix(path, end) {
			return fmt.Sprintf("must not end with %q", end)
		}
	}
	if !pathPattern.MatchString(path) {
		return "must only contain characters that RFC 3986 allows in a path; percent-encode the others"
	}
	return ""
}

func validateValues(values []ValueMatch, maxValue int, key func(string) string, path *field.Path) field.ErrorList {
	faults := atMost(len(values), maxValueMatches, path)
	names := map[string]bool{}
	for i, value := range values {
		at := path.Index(i)
		faults = append(faults, validateNamed(value.Name, value.Value, maxValue, key(value.Name), names, at)...)
	}
	return faults
}

// validateNamed checks one entry of a map list. It requires key to be unique and adds it to names.
func validateNamed(name, value string, maxValue int, key string, names map[string]bool, at *field.Path) field.ErrorList {
	faults := validateText(name, maxHeaderName, headerNamePattern, at.Child("name"), "must be a token of RFC 9110")
	faults = append(faults, validateText(value, maxValue, nil, at.Child("value"), "must not be empty")...)
	if names[key] {
		faults = append(faults, field.Duplicate(at.Child("name"), name))
	}
	names[key] = true
	return faults
}

func validateBackend(backend *Backend, at *field.Path) field.ErrorList {
	faults := validateText(backend.Name, maxSubdomain, nil, at.Child("name"), "must name the backend")
	if backend.Namespace != "" {
		faults = append(faults, validateText(backend.Namespace, maxSegment, labelPattern, at.Child("namespace"), "must be a DNS-1123 label")...)
	}
	if backend.Group != "" {
		faults = append(faults, validateText(backend.Group, maxSubdomain, subdomainPattern, at.Child("group"), "must be a DNS name")...)
	}
	if backend.Kind != "" {
		faults = append(faults, validateText(backend.Kind, maxSegment, kindPattern, at.Child("kind"), "must be a kind such as Service")...)
	}
	switch service := backend.Group == "" && (backend.Kind == "" || backend.Kind == "Service"); {
	case backend.Port != 0:
		faults = append(faults, validatePort(backend.Port, at.Child("port"))...)
	case service:
		faults = append(faults, field.Required(at.Child("port"), "a Service backend needs the port of the Service"))
	}
	if backend.Weight != nil && (*backend.Weight < 0 || *backend.Weight > maxWeight) {
		faults = append(faults, field.Invalid(at.Child("weight"), *backend.Weight, fmt.Sprintf("must be between 0 and %d", maxWeight)))
	}
	return faults
}

func validatePort(port int32, at *field.Path) field.ErrorList {
	if port < 1 || port > 65535 {
		return field.ErrorList{field.Invalid(at, port, "must be between 1 and 65535")}
	}
	return nil
}

// validateText checks a required text against the length and the pattern of the CRD; a nil pattern allows any characters.
func validateText(text string, limit int, pattern *regexp.Regexp, at *field.Path, advice string) field.ErrorList {
	switch {
	case text == "":
		return field.ErrorList{field.Required(at, advice)}
	case utf8.RuneCountInString(text) > limit:
		return field.ErrorList{field.TooLong(at, "", limit)}
	case pattern != nil && !pattern.MatchString(text):
		return field.ErrorList{field.Invalid(at, text, advice)}
	}
	return nil
}

func atMost(count, limit int, path *field.Path) field.ErrorList {
	if count > limit {
		return field.ErrorList{field.TooMany(path, count, limit)}
	}
	return nil
}

// value returns the value of an optional field, or the default.
func value[T ~string](pointer *T, unset T) T {
	if pointer == nil {
		return unset
	}
	return *pointer
}

func sortedKeys(values map[string]string) []string { return slices.Sorted(maps.Keys(values)) }
