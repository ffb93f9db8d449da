package applyset

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
)

// Labels and annotations of KEP-3659.
// https://github.com/kubernetes/enhancements/tree/master/keps/sig-cli/3659-kubectl-apply-prune
const (
	IDLabel              = "applyset.kubernetes.io/id"
	PartOfLabel          = "applyset.kubernetes.io/part-of"
	GroupKindsAnnotation = "applyset.kubernetes.io/contains-group-kinds"
	NamespacesAnnotation = "applyset.kubernetes.io/additional-namespaces"
	ToolingAnnotation    = "applyset.kubernetes.io/tooling"
)

// SharedAnnotation is on an object that several owners share, see apply.Shared
// and apply.Retained. Each owner that has a part of the object owns the
// annotation under its own field manager, so that it is there as long as there
// is a part, and the API server counts them. Owners of retained objects own it
// under the field manager of the controller, which never gives it back. An
// annotation that was copied with a manifest is nobody's part.
const SharedAnnotation = "reconcilekit.dev/shared"

// Keys are the names of the labels and annotations of one inventory. The names
// of KEP-3659 exist once on an owner: the first controller that records
// children of an owner keeps its inventory under them, others under names of
// their own.
type Keys struct {
	ID, Tooling, Kinds, Namespaces, Contributions, AllowPrune, Orphan, Generation string
}

// StandardKeys are the names of KEP-3659, and those of the domain for what it
// has no name for.
func StandardKeys(domain string) Keys {
	return Keys{
		ID: IDLabel, Tooling: ToolingAnnotation, Kinds: GroupKindsAnnotation, Namespaces: NamespacesAnnotation,
		Contributions: domain + "/contributions", AllowPrune: domain + "/allow-prune", Orphan: domain + "/orphan",
		Generation: domain + "/generation",
	}
}

// KeysOf are the names for a controller that finds the standard ones in use.
// Not every field manager can be part of a name; a hash of it can.
func KeysOf(domain, manager string) Keys {
	sum := sha256.Sum256([]byte(manager))
	prefix := hex.EncodeToString(sum[:5]) + "." + domain + "/"
	return Keys{
		ID: prefix + "id", Tooling: prefix + "tooling", Kinds: prefix + "contains-group-kinds",
		Namespaces: prefix + "additional-namespaces", Contributions: prefix + "contributions",
		AllowPrune: prefix + "allow-prune", Orphan: prefix + "orphan", Generation: prefix + "generation",
	}
}

// Annotations are the names of all annotations.
func (k *Keys) Annotations() []string {
	return []string{k.Tooling, k.Kinds, k.Namespaces, k.Contributions, k.AllowPrune, k.Orphan, k.Generation}
}

// IDOf returns the id of the set of a controller that keeps its inventory under
// names of its own. What follows the group cannot be part of a group.
func IDOf(gk schema.GroupKind, key types.NamespacedName, manager string) string {
	return id(key.Name, key.Namespace, gk.Kind, gk.Group, ":"+manager)
}

const (
	idPrefix = "applyset-"
	idSuffix = "-v1"
)

func id(parts ...string) string {
	sum := sha256.Sum256([]byte(strings.Join(parts, ".")))
	return idPrefix + base64.RawURLEncoding.EncodeToString(sum[:]) + idSuffix
}

// IsID reports whether the value of a part-of label has the form of an id.
func IsID(label string) bool {
	return strings.HasPrefix(label, idPrefix) && strings.HasSuffix(label, idSuffix)
}
