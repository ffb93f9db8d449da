package apply

import (
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// ChildKind is a kind of objects that the engine is told of before any plan
// names it, see [Options.Kinds].
type ChildKind struct {
	// GVK is the kind in the version in which plans name it.
	GVK schema.GroupVersionKind
	// Use reports what plans do with the kind. Default [KindOwned].
	Use KindUse
}

// KindUse says what plans do with a kind.
type KindUse int

// The uses of a kind.
const (
	// KindOwned: plans may have children of the kind. The default.
	KindOwned KindUse = iota
	// KindWritten: plans write objects of the kind that are not children:
	// shared ones, contributions, deletions.
	KindWritten
	// KindRetired: only plans of an earlier version of the operator named the
	// kind. The engine finds and prunes what is left of it, which needs the
	// permissions to list and delete it.
	KindRetired
)
