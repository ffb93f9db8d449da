package applyset

import (
	"regexp"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/validation"
)

// ID returns the ID of the set of an owner. KEP-3659 derives it from the owner's name, namespace, kind and group.
func ID(gk schema.GroupKind, key types.NamespacedName) string {
	return id(key.Name, key.Namespace, gk.Kind, gk.Group)
}

// FormatGroupKinds formats kinds as "Kind.group", sorted and without duplicates.
func FormatGroupKinds(gks []schema.GroupKind) string {
	out := make([]string, 0, len(gks))
	for _, gk := range gks {
		out = append(out, gk.String())
	}
	slices.Sort(out)
	return strings.Join(slices.Compact(out), ",")
}

// CompareKinds orders kinds by their text, such as Deployment.apps, without allocating it: no character of a kind sorts before the dot.
func CompareKinds(a, b schema.GroupKind) int {
	if order := strings.Compare(a.Kind, b.Kind); order != 0 {
		return order
	}
	return strings.Compare(a.Group, b.Group)
}

// ParseGroupKinds parses the format of FormatGroupKinds. It also returns the items that it cannot parse.
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

// kindPattern matches names of kinds. The API server requires their lower-case form to be a DNS label.
var kindPattern = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9]{0,62}$`)

// FormatNames formats names, sorted and without duplicates.
func FormatNames(names []string) string {
	out := slices.Clone(names)
	slices.Sort(out)
	return strings.Join(slices.Compact(out), ",")
}

// ParseNames parses the format of FormatNames. It omits items that are not valid namespace names, because no namespace can have them.
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
