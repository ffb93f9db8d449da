package engine

import (
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/reconcilekit/reconcilekit/reconcile/apply"
	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/managedfields"
)

// sharedValue is the same for all, so that all can own it.
const sharedValue = "true"

// partial reports whether the owner has a part of an object under a field
// manager of its own, which is given back in the end.
func partial(m apply.Mode) bool { return m == apply.Contribute || m == apply.Shared }

// sharers are the field managers that own the annotation of shared objects by
// apply.
func sharers(o metav1.Object) []string {
	var out []string
	entries := o.GetManagedFields()
	for i := range entries {
		e := &entries[i]
		if e.Operation == metav1.ManagedFieldsOperationApply && managedfields.OwnsMetadata(e, "annotations", apply.SharedAnnotation) {
			out = append(out, e.Manager)
		}
	}
	return out
}

// isShared reports whether an owner has a part of the object as a shared one,
// of whatever controller.
func isShared(o metav1.Object) bool {
	return slices.ContainsFunc(sharers(o), func(manager string) bool { return strings.Contains(manager, ":") })
}

// sharesAlone reports whether this owner is the only one that shares the
// object, so that it may do something else with it.
func (p *pass) sharesAlone(o metav1.Object) bool {
	return slices.Equal(sharers(o), []string{p.contributor()})
}

// retained reports whether the object is a [apply.Retained] one of this controller,
// which is no owner's in particular.
func (p *pass) retained(o metav1.Object) bool {
	return slices.Equal(sharers(o), []string{p.engine.opts.FieldManager})
}

// formerMode reports whether an entry is ours from when the plan had the child
// in another mode: under the manager of this owner alone, or under the common
// one of an object that is this owner's.
func (p *pass) formerMode(c *planned, e *metav1.ManagedFieldsEntry) bool {
	applies := e.Operation == metav1.ManagedFieldsOperationApply
	if c.child.Mode != apply.Shared {
		return applies && e.Manager == p.contributor()
	}
	if e.Manager != p.engine.opts.FieldManager || (!applies && !managedfields.OwnsMetadata(e, "labels", apply.PartOfLabel)) {
		return false
	}
	if controller := metav1.GetControllerOfNoCopy(c.live); controller != nil {
		return controller.UID == p.owner.GetUID()
	}
	if labelled(c.live) {
		return p.inSet(c.live)
	}
	// What was retained becomes the part of the first owner that shares it. One that has its part already leaves the rest to
	// others, which may still retain it.
	return managedfields.Entry(c.live.GetManagedFields(), c.manager) == nil
}

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
	for _, c := range p.children {
		if c.memory != nil && c.child.Mode == apply.Shared {
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
