package apply

import (
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/applyset"
)

// Labels and annotations of KEP-3659 (ApplySet).
// https://github.com/kubernetes/enhancements/tree/master/keps/sig-cli/3659-kubectl-apply-prune
const (
	// ApplySetIDLabel is on the owner; its value identifies its set.
	ApplySetIDLabel = applyset.IDLabel
	// PartOfLabel is on every member of a set; its value is the set's id.
	PartOfLabel = applyset.PartOfLabel
	// GroupKindsAnnotation is on the owner: the kinds that the set may have.
	GroupKindsAnnotation = applyset.GroupKindsAnnotation
	// NamespacesAnnotation is on the owner: the namespaces besides the
	// owner's own in which the set may have members.
	NamespacesAnnotation = applyset.NamespacesAnnotation
	// ToolingAnnotation is on the owner: what manages the set.
	ToolingAnnotation = applyset.ToolingAnnotation
)

// ApplySetID returns the id of the set of an owner, as KEP-3659 derives it from
// the owner's name, namespace, kind and group.
func ApplySetID(gk schema.GroupKind, key types.NamespacedName) string { return applyset.ID(gk, key) }

// SharedAnnotation is on an object that several owners share, see [Shared] and
// [Retained]. Each owner that has a part of the object owns the annotation
// under its own field manager, so that it is there as long as there is a part,
// and the API server counts them. Owners of [Retained] objects own it under the
// field manager of the controller, which never gives it back. An annotation
// that was copied with a manifest is nobody's part.
const SharedAnnotation = DefaultDomain + "/shared"
