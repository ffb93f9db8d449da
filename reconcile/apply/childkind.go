package apply

import (
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// ChildKind is a kind of objects that the engine is told of before any plan
// names it, see [Options.Kinds].
type ChildKind struct {
	// GVK is the kind in the version in which plans name it.
	GVK schema.GroupVersionKind
	// Use reports what plans do with the kind. Default KindOwned.
	Use KindUse
}

// KindUse reports what plans do with a kind.
type KindUse int
