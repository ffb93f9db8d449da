package engine

import (
	"slices"

	"github.com/reconcilekit/reconcilekit/reconcile/apply"
)

// parting are the objects of which parts are to be given back, and those that
// go with it, so that they are kept and guarded like children.
func (p *pruner) parting() []memberObject {
	var out []memberObject
	for _, r := range p.releases {
		if r.result.Verb != apply.VerbNone {
			out = append(out, memberObject{id: r.id, gvk: r.result.GVK, uid: r.result.UID})
		}
	}
	return out
}

// keepParts keeps the parts, of those that are released or pruned, that are not
// in the surplus any more, and takes the others out of it, which are no children.
func (p *pruner) keepParts(surplus []memberObject, verb apply.Verb) []memberObject {
	for _, r := range p.releases {
		if r.result.Verb != verb {
			continue
		}
		rest := slices.DeleteFunc(surplus, func(m memberObject) bool { return m.id == r.id })
		if len(rest) == len(surplus) {
			r.stays()
		}
		surplus = rest
	}
	return surplus
}

// sharedChildren counts the shared objects that are planned or go.
func (p *pruner) sharedChildren() int {
	n := 0
	for _, c := range p.Children {
		if c.Memory != nil && c.Planned.Mode == apply.Shared {
			n++
		}
	}
	for _, r := range p.releases {
		if r.result.Verb == apply.VerbPrune {
			n++
		}
	}
	return n
}
