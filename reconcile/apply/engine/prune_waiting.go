package engine

import (
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/reconcilekit/reconcilekit/reconcile/apply"
	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/applyset"
)

// servesFor is how long a deleted owner keeps children that a program needs to run while a finalizer keeps another child. The program may
// be the one that removes this finalizer.
const servesFor = 5 * time.Minute

// holdsOwner reports whether the object cannot be gone before the owner: the owner itself, its namespace and the definition of its kind.
// An owner that waited for one of them would wait forever.
func (p *pass) holdsOwner(id applyset.ObjectID) bool {
	switch id.GroupKind {
	case schema.GroupKind{Kind: "Namespace"}:
		return id.Key.Name == p.owner.GetNamespace()
	case schema.GroupKind{Group: "apiextensions.k8s.io", Kind: "CustomResourceDefinition"}:
		gk := p.ownerKind.GVK.GroupKind()
		if _, group, _ := strings.Cut(id.Key.Name, "."); p.group != nil || group != gk.Group {
			return false
		}
		mapping, err := p.env.client.RESTMapper().RESTMapping(gk, p.ownerKind.GVK.Version)
		return err == nil && mapping.Resource.GroupResource().String() == id.Key.Name
	}
	return p.isOwner(id)
}

// last reports whether a member is deleted after everything else without waiting for it.
func (f *facts) last(m memberObject) bool { return f.finalize && m.holdsOwner }

// awaited reports whether the owner waits for one of the members.
func (p *pruning) awaited(members []memberObject) bool {
	return slices.ContainsFunc(members, func(m memberObject) bool { return !p.last(m) })
}

// addReached adds the members that garbage collection reaches to those that a deleted owner has to delete itself, while one of the latter
// is not deleted. Its finalizer may wait for the former, and garbage collection starts only when the owner is gone. The owner does not
// wait for them once the others are gone.
func (d *pruneDecider) addReached(own, near []memberObject) []memberObject {
	goes := func(o memberObject) bool { return o.deleting && !d.last(o) }
	if !d.finalize || !slices.ContainsFunc(own, goes) && !slices.ContainsFunc(d.deletions, (*deletion).terminates) {
		d.waiting = time.Time{}
		return own
	}
	if d.waiting.IsZero() {
		d.waiting = d.now
	}
	for _, o := range near {
		if !servesPrograms(o.id.GroupKind) || d.now.Sub(d.waiting) >= servesFor {
			own = append(own, o)
		}
	}
	return own
}

// terminates reports whether the object of a planned deletion still exists and the owner waits for it.
func (d *deletion) terminates() bool {
	return d.result.Reason == apply.ReasonTerminating && !d.holdsOwner
}

// servesPrograms reports whether a program may need an object of the kind to run: its workload, identity, permissions, credentials or
// address.
func servesPrograms(gk schema.GroupKind) bool {
	switch gk.Group {
	case "apps", "batch", "rbac.authorization.k8s.io":
		return true
	case "":
		return slices.Contains([]string{"Pod", "ReplicationController", "ServiceAccount", "Secret", "Service"}, gk.Kind)
	}
	return false
}

// reportWaiting reports the objects that a deleted owner waits for, and their finalizers.
func (p *pruning) reportWaiting(members []memberObject) {
	for _, m := range members {
		if m.deleting && !p.last(m) {
			p.reportHeld(m.id, m.finalizers)
		}
	}
	for _, d := range p.deletions {
		if d.terminates() {
			p.reportHeld(d.id, d.finalizers)
		}
	}
}

func (p *pruning) reportHeld(id applyset.ObjectID, finalizers []string) {
	blocked := &apply.PruneBlockedError{Reason: apply.ReasonTerminating, Objects: []string{id.String()}}
	if len(finalizers) > 0 {
		blocked.Cause = heldError(finalizers)
	}
	p.block(blocked)
}

// heldError are the finalizers of an object that is being deleted.
type heldError []string

// Error returns a message with the finalizers.
func (e heldError) Error() string { return "held by the finalizers " + strings.Join(e, ", ") }

// deletedLast reports whether a surplus member is still to be deleted after everything else.
func (p *pruning) deletedLast(m *surplusMember) bool {
	return p.last(m.memberObject) && m.result.Reason != apply.ReasonTerminating
}

// unfinished reports whether a surplus member must be handled before the owner may be deleted.
func (p *pruning) unfinished(m *surplusMember) bool {
	return !p.last(m.memberObject) || m.result.Reason != apply.ReasonTerminating
}
