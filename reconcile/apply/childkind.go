package apply

import (
	"slices"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/applyset"
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

// declaredKinds are the kinds of the options, nil if there are none: an engine
// without them knows only what plans name.
type declaredKinds map[schema.GroupKind]ChildKind

func newDeclaredKinds(kinds []ChildKind) declaredKinds {
	if kinds == nil {
		return nil
	}
	out := declaredKinds{}
	for _, k := range kinds {
		gk := k.GVK.GroupKind()
		if known, ok := out[gk]; !ok || k.Use < known.Use {
			out[gk] = k
		}
	}
	return out
}

// allows reports whether objects of the kind may be asked for.
func (d declaredKinds) allows(gk schema.GroupKind) bool {
	_, ok := d[gk]
	return ok || d == nil
}

// of returns the kinds of one use, sorted.
func (d declaredKinds) of(use KindUse) []ChildKind {
	var out []ChildKind
	for _, k := range d {
		if k.Use == use {
			out = append(out, k)
		}
	}
	slices.SortFunc(out, func(a, b ChildKind) int { return applyset.CompareKinds(a.GVK.GroupKind(), b.GVK.GroupKind()) })
	return out
}

// holdsData reports whether objects of the kind are never pruned without a
// reason that the engine knows of.
func (e *env) holdsData(gk schema.GroupKind) bool { return slices.Contains(e.opts.GuardedKinds, gk) }
