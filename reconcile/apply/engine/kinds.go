package engine

import (
	"slices"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/reconcilekit/reconcilekit/reconcile/apply"
	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/applyset"
)

// declaredKinds are the kinds of the options, nil if there are none. An engine without them only knows the kinds in plans.
type declaredKinds map[schema.GroupKind]apply.ChildKind

func newDeclaredKinds(kinds []apply.ChildKind) declaredKinds {
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

// allows reports whether the engine may read objects of the kind.
func (d declaredKinds) allows(gk schema.GroupKind) bool {
	_, ok := d[gk]
	return ok || d == nil
}

// of returns the kinds of one use, sorted.
func (d declaredKinds) of(use apply.KindUse) []apply.ChildKind {
	var out []apply.ChildKind
	for _, k := range d {
		if k.Use == use {
			out = append(out, k)
		}
	}
	slices.SortFunc(out, func(a, b apply.ChildKind) int { return applyset.CompareKinds(a.GVK.GroupKind(), b.GVK.GroupKind()) })
	return out
}

// keepsKind reports whether all members of the kind are kept.
func (f *facts) keepsKind(plan *apply.Plan, gk schema.GroupKind) bool {
	if f.finalize && !plan.Hold {
		return false
	}
	return slices.ContainsFunc(plan.KeptKinds, func(gvk schema.GroupVersionKind) bool { return gvk.GroupKind() == gk })
}

// identifyKept adds the kept kinds to the identity of the plan.
func (p *pass) identifyKept() {
	for _, gvk := range p.plan.KeptKinds {
		p.identity += p.env.hasher.Text("keep " + gvk.GroupKind().String())
	}
}
