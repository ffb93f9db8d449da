package applyset

import (
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
)

// ID returns the id of the set of an owner, as KEP-3659 derives it from
// the owner's name, namespace, kind and group.
func ID(gk schema.GroupKind, key types.NamespacedName) string {
	sum := sha256.Sum256([]byte(strings.Join([]string{key.Name, key.Namespace, gk.Kind, gk.Group}, ".")))
	return "applyset-" + base64.RawURLEncoding.EncodeToString(sum[:]) + "-v1"
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

// ParseGroupKinds reads what FormatGroupKinds writes.
func ParseGroupKinds(value string) ([]schema.GroupKind, error) {
	var out []schema.GroupKind
	for item := range strings.SplitSeq(value, ",") {
		item = strings.TrimSpace(item)
		if item == "" {
			continue
		}
		gk := schema.ParseGroupKind(item)
		if gk.Kind == "" {
			return nil, fmt.Errorf("%q must be Kind.group", item)
		}
		out = append(out, gk)
	}
	slices.SortFunc(out, func(a, b schema.GroupKind) int { return strings.Compare(a.String(), b.String()) })
	return slices.Compact(out), nil
}

// FormatNames renders names, sorted and unique.
func FormatNames(names []string) string {
	out := slices.Clone(names)
	slices.Sort(out)
	return strings.Join(slices.Compact(out), ",")
}

// ParseNames reads what FormatNames writes.
func ParseNames(value string) []string {
	var out []string
	for item := range strings.SplitSeq(value, ",") {
		if item = strings.TrimSpace(item); item != "" {
			out = append(out, item)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}
