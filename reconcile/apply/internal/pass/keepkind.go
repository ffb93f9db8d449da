package pass

import (
	"slices"

	"k8s.io/apimachinery/pkg/runtime/schema"
)

// KeepsKind reports whether all members of the kind stay.
func (p *Pass) KeepsKind(gk schema.GroupKind) bool {
	if p.Finalize && !p.Plan.Hold {
		return false
	}
	return slices.ContainsFunc(p.Plan.KeptKinds, func(gvk schema.GroupVersionKind) bool { return gvk.GroupKind() == gk })
}

// identifyKept makes the kept kinds a part of what the plan is.
func (p *Pass) identifyKept() {
	for _, gvk := range p.Plan.KeptKinds {
		p.Identity += p.Env.Hasher.Text("keep " + gvk.GroupKind().String())
	}
}
