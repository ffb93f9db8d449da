package oracle

import (
	"regexp"
	"strings"
)

// known is a difference that stays, by name.
type known struct {
	kind string
	// origin limits the entry to objects of the origin; empty is all.
	origin string
	// path matches the path of the field.
	path *regexp.Regexp
	why  string
}

// knownDifferences lists the fields of an object whose plan has changed that can differ from those of a new object.
// docs/promises/18-as-newly-created.md has the same list.
//
//nolint:gochecknoglobals // a table
var knownDifferences = []known{
	{"Job", "", regexp.MustCompile(`^\.metadata\.labels\.(batch\.kubernetes\.io/)?(controller-uid|job-name)$`), "labels that the API server copies from the Pod template of a Job without labels"},
	{"Job", "", regexp.MustCompile(`^\.spec\.completions$`), "completions of a Job, which the API server chose for the first plan and does not change"},
	{"Service", "", regexp.MustCompile(`^\.spec\.ipFamil(ies|yPolicy)$`), "IP families of a Service, which the API server chose for the first plan and does not change"},
	{"Service", adopted, regexp.MustCompile(`[nN]odePort$|^\.spec\.clusterIPs?`), "addresses and ports of a Service whose type another client set"},
}

func knownDifference(kind, origin, path string, have, want any) string {
	if want == nil && isEmpty(have) {
		return "an empty list that leaves the plan and that no field manager owns"
	}
	if origin == adopted && have == nil {
		return "defaults that do not go with a field of another client"
	}
	for _, k := range knownDifferences {
		if k.kind == kind && (k.origin == "" || k.origin == origin) && k.path.MatchString(path) {
			return k.why
		}
	}
	return ""
}

// isEmpty reports whether the value is an empty list, or an object of such values.
func isEmpty(value any) bool {
	switch x := value.(type) {
	case []any:
		return len(x) == 0
	case map[string]any:
		for _, below := range x {
			if !isEmpty(below) {
				return false
			}
		}
		return len(x) > 0
	}
	return false
}

// knownRefusals maps a part of an error to why the change is reported and not made.
//
//nolint:gochecknoglobals // a table
var knownRefusals = []struct{ text, why string }{
	{"is immutable", "immutable"},
	{"may not change once set", "immutable"},
	{"may not be set to 'None' for", "immutable"},
	{"may not be changed in an update", "immutable"},
	{"omits all key fields", "an object that no client can apply"},
	{"left the plan, but the API server keeps it", "a field that left the plan and that the API server keeps"},
}

// knownRefusal returns why a change that is refused is reported, empty if that is a fault.
func knownRefusal(origin string, err error) string {
	text := err.Error()
	for _, k := range knownRefusals {
		if strings.Contains(text, k.text) {
			return k.why
		}
	}
	switch {
	case origin == adopted:
		return "fields of another client"
	case origin == former && (strings.Contains(text, `must be of type object: "null"`) || strings.HasSuffix(text, "Required value")):
		return "an object of a former manager that the plan empties"
	}
	return ""
}
