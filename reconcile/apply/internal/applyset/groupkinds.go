package applyset

import (
	"regexp"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/validation"
)

// ID returns the id of the set of an owner, as KEP-3659 derives it from
// the owner's name, namespace, kind and group.
func ID(gk schema.GroupKind, key types.NamespacedName) string {
	return id(key.Name, key.Namespace, gk.Kind, gk.Group)
}

// FormatGroupKinds renders kinds as "Kind.group", sorted and unique.
func FormatGroupKinds(gks []schema.GroupKind) string {
	out := make([]string, 0, len(gks))
	for _, gk := range gks {
		out = append(out, gk.String())
	}
	slices.Sort(out)
	return strings.Join(slices.Compact(out), ",")
}

// CompareKinds orders kinds by their text, such as Deployment.apps, which it does not make: a kind has no character before the dot.
func CompareKinds(a, b schema.GroupKind) int {
	if order := strings.Compare(a.Kind, b.Kind); order != 0 {
		return order
	}
	return strings.Compare(a.Group, b.Group)
}

// ParseGroupKinds reads what FormatGroupKinds writes. It returns beside it the
// items that are of another form.
func ParseGroupKinds(value string) (out []schema.GroupKind, unreadable []string) {
	for item := range strings.SplitSeq(value, ",") {
		item = strings.TrimSpace(item)
		if item == "" {
			continue
		}
		if gk, ok := parseGroupKind(item); ok {
			out = append(out, gk)
		} else {
			unreadable = append(unreadable, item)
		}
	}
	slices.SortFunc(out, CompareKinds)
	slices.Sort(unreadable)
	return slices.Compact(out), slices.Compact(unreadable)
}

func parseGroupKind(text string) (schema.GroupKind, bool) {
	gk := schema.ParseGroupKind(text)
	return gk, kindPattern.MatchString(gk.Kind) && (gk.Group == "" || len(validation.IsDNS1123Subdomain(gk.Group)) == 0)
}

// kindPattern is what names of kinds look like: the API server wants their
// lower case to be a DNS label.
//

var kindPattern = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9]{0,62}$`)

// FormatNames renders names, sorted and unique.
func FormatNames(names []string) string {
	out := slices.Clone(names)
	slices.Sort(out)
	return strings.Join(slices.Compact(out), ",")
}

// ParseNames reads what FormatNames writes. What is no name of a namespace is
// left out: nothing can be in it.
func ParseNames(value string) []string {
	var out []string
	for item := range strings.SplitSeq(value, ",") {
		if item = strings.TrimSpace(item); len(validation.IsDNS1123Label(item)) == 0 {
			out = append(out, item)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}
