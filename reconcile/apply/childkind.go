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

// KindUse reports what plans do with a kind.
type KindUse int

const (
	// KindOwned: plans may have children of the kind.
	KindOwned KindUse = iota
	// KindWritten: plans write objects of the kind that are no members of the
	// set: shared ones, contributions, deletions.
	KindWritten
	// KindRetired: no plan names the kind any more, but those of an earlier
	// version of the operator did. What is left of it is found and pruned,
	// which takes the rights to list and delete it.
	KindRetired
)

// DefaultGuardedKinds returns the kinds whose objects hold data or work that
// cannot be made again: the default of [Options.GuardedKinds].
func DefaultGuardedKinds() []schema.GroupKind {
	return []schema.GroupKind{
		{Kind: "Namespace"},
		{Kind: "PersistentVolume"},
		{Kind: "PersistentVolumeClaim"},
		{Kind: "Pod"},
		{Group: "batch", Kind: "Job"},
		{Group: "apiextensions.k8s.io", Kind: "CustomResourceDefinition"},
	}
}
