package apply

import (
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// ChildKind declares a kind of objects to the engine before a plan names it, see [Options.Kinds].
type ChildKind struct {
	// GVK is the kind in the version in which plans name it.
	GVK schema.GroupVersionKind
	// Use is how plans use the kind. Default [KindOwned].
	Use KindUse
}

// KindUse is how plans use a kind.
type KindUse int

// The uses of a kind.
const (
	// KindOwned: plans may have children of the kind. The default.
	KindOwned KindUse = iota
	// KindWritten: plans write objects of the kind that are not children: shared objects, contributions and deletions.
	KindWritten
	// KindRetired: only plans of an earlier version of the operator named the kind. The engine finds and prunes the remaining objects,
	// which requires the permissions to list and delete the kind.
	KindRetired
)
