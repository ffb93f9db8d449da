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

// SharedAnnotation is on an object that several owners share, see apply.Shared and apply.Retained. Each owner that has a part of the
// object owns the annotation under its own field manager, so that the API server keeps it until the last part is gone. Owners of retained
// objects own it under the field manager of the controller, which never gives it back. An annotation that was copied with a manifest
// belongs to no owner.
const SharedAnnotation = "reconcilekit.dev/shared"

// AfterAnnotation is on a child that its plan has ordered behind other objects, see apply.After. The value lists these objects in the form of
// FormatContributions. The child is deleted before them, also when no plan names it any more.
const AfterAnnotation = "reconcilekit.dev/after"

// Keys are the names of the labels and annotations of one inventory. An owner can have the names of KEP-3659 only once: the first
// controller that records children of an owner uses them, and other controllers use names of their own.
type Keys struct {
	ID, Tooling, Kinds, Namespaces, Contributions, AllowPrune, AdoptRestored, Orphan, Generation string
}

// StandardKeys returns the names of KEP-3659, with names of the domain where KEP-3659 has none.
func StandardKeys(domain string) Keys {
	return Keys{
		ID: IDLabel, Tooling: ToolingAnnotation, Kinds: GroupKindsAnnotation, Namespaces: NamespacesAnnotation,
		Contributions: domain + "/contributions", AllowPrune: domain + "/allow-prune", AdoptRestored: domain + "/adopt-restored",
		Orphan: domain + "/orphan", Generation: domain + "/generation",
	}
}

// KeysOf returns the names for a controller that finds the standard ones in use. They contain a hash of the field manager, because not
// every field manager is valid in a name.
func KeysOf(domain, manager string) Keys {
	sum := sha256.Sum256([]byte(manager))
	prefix := hex.EncodeToString(sum[:5]) + "." + domain + "/"
	return Keys{
		ID: prefix + "id", Tooling: prefix + "tooling", Kinds: prefix + "contains-group-kinds",
		Namespaces: prefix + "additional-namespaces", Contributions: prefix + "contributions",
		AllowPrune: prefix + "allow-prune", AdoptRestored: prefix + "adopt-restored", Orphan: prefix + "orphan", Generation: prefix + "generation",
	}
}

// Annotations returns the names of all annotations.
func (k *Keys) Annotations() []string {
	return []string{k.Tooling, k.Kinds, k.Namespaces, k.Contributions, k.AllowPrune, k.AdoptRestored, k.Orphan, k.Generation}
}

// IDOf returns the ID of the set of a controller that keeps its inventory under names of its own. The text after the group cannot be part
// of a group.
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

// IsID reports whether the value of a part-of label has the form of an ID.
func IsID(label string) bool {
	return strings.HasPrefix(label, idPrefix) && strings.HasSuffix(label, idSuffix)
}
