package engine

import (
	"slices"

	"k8s.io/apimachinery/pkg/runtime/schema"
)

// keepsKind reports whether all members of the kind stay.
func (p *pass) keepsKind(gk schema.GroupKind) bool {
	if p.finalize && !p.plan.Hold {
		return false
	}
	return slices.ContainsFunc(p.plan.KeptKinds, func(gvk schema.GroupVersionKind) bool { return gvk.GroupKind() == gk })
}

// identifyKept makes the kept kinds a part of what the plan is.
func (p *pass) identifyKept() {
	for _, gvk := range p.plan.KeptKinds {
		p.identity += p.env.hasher.Text("keep " + gvk.GroupKind().String())
	}
}
