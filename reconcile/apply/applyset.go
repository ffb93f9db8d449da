package apply

import (
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
)

// Labels and annotations of KEP-3659 (ApplySet).
// https://github.com/kubernetes/enhancements/tree/master/keps/sig-cli/3659-kubectl-apply-prune
const (
	// ApplySetIDLabel is on the owner; its value identifies its set.
	ApplySetIDLabel = "applyset.kubernetes.io/id"
	// PartOfLabel is on every member of a set; its value is the set's id.
	PartOfLabel = "applyset.kubernetes.io/part-of"
	// GroupKindsAnnotation is on the owner: the kinds that the set may have.
	GroupKindsAnnotation = "applyset.kubernetes.io/contains-group-kinds"
	// NamespacesAnnotation is on the owner: the namespaces besides the
	// owner's own in which the set may have members.
	NamespacesAnnotation = "applyset.kubernetes.io/additional-namespaces"
	// ToolingAnnotation is on the owner: what manages the set.
	ToolingAnnotation = "applyset.kubernetes.io/tooling"

	toolingName = "reconcilekit/v1"
)

// ApplySetID returns the id of the set of an owner, as KEP-3659 derives it from
// the owner's name, namespace, kind and group.
func ApplySetID(gk schema.GroupKind, key types.NamespacedName) string {
	sum := sha256.Sum256([]byte(strings.Join([]string{key.Name, key.Namespace, gk.Kind, gk.Group}, ".")))
	return "applyset-" + base64.RawURLEncoding.EncodeToString(sum[:]) + "-v1"
}

// formatGroupKinds renders kinds as "Kind.group", sorted and unique.
func formatGroupKinds(gks []schema.GroupKind) string {
	out := make([]string, 0, len(gks))
	for _, gk := range gks {
		out = append(out, gk.String())
	}
	slices.Sort(out)
	return strings.Join(slices.Compact(out), ",")
}

// parseGroupKinds reads what formatGroupKinds writes.
func parseGroupKinds(value string) ([]schema.GroupKind, error) {
	var out []schema.GroupKind
	for item := range strings.SplitSeq(value, ",") {
		item = strings.TrimSpace(item)
		if item == "" {
			continue
		}
		gk := schema.ParseGroupKind(item)
		if gk.Kind == "" {
			return nil, fmt.Errorf("%s: %q must be Kind.group", GroupKindsAnnotation, item)
		}
		out = append(out, gk)
	}
	slices.SortFunc(out, func(a, b schema.GroupKind) int { return strings.Compare(a.String(), b.String()) })
	return slices.Compact(out), nil
}

func formatNames(names []string) string {
	out := slices.Clone(names)
	slices.Sort(out)
	return strings.Join(slices.Compact(out), ",")
}

func parseNames(value string) []string {
	var out []string
	for item := range strings.SplitSeq(value, ",") {
		if item = strings.TrimSpace(item); item != "" {
			out = append(out, item)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}
