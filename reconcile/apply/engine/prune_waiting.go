package engine

import (
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/reconcilekit/reconcilekit/reconcile/apply"
	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/applyset"
)

// servesFor is how long a deleted owner keeps children that a program needs to run while the
// finalizer of another child holds: the program may be the one that removes this finalizer.
const servesFor = 5 * time.Minute

// holdsOwner reports whether an object cannot be gone before the owner is: the
// owner itself, its namespace and the definition of its kind. An owner that
// waits for one of them waits for itself.
func (p *pruning) holdsOwner(id applyset.ObjectID) bool {
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

// last reports whether a member is deleted after everything else, and not
// waited for.
func (p *pruning) last(m memberObject) bool { return p.finalize && p.holdsOwner(m.id) }

// awaited reports whether the owner waits for one of the members.
func (p *pruning) awaited(members []memberObject) bool {
	return slices.ContainsFunc(members, func(m memberObject) bool { return !p.last(m) })
}

// addNear adds to the members that a deleted owner has to delete itself those
// that garbage collection reaches, while one of the others does not go: its
// finalizer may wait for them, and garbage collection starts when the owner is
// gone. The owner does not wait for them once the others are gone.
func (p *pruning) addNear(own, near []memberObject) []memberObject {
	m := &p.memory.Prune
	goes := func(o memberObject) bool { return o.deleting && !p.last(o) }
	if !p.finalize || !slices.ContainsFunc(own, goes) && !slices.ContainsFunc(p.deletions, p.terminates) {
		m.Waiting = time.Time{}
		return own
	}
	if m.Waiting.IsZero() {
		m.Waiting = p.now
	}
	for _, o := range near {
		if !servesPrograms(o.id.GroupKind) || p.now.Sub(m.Waiting) >= servesFor {
			own = append(own, o)
		}
	}
	return own
}

// terminates reports whether the object of a planned deletion is still there
// and the owner waits for it.
func (p *pruning) terminates(d *deletion) bool {
	return d.result.Reason == apply.ReasonTerminating && !p.holdsOwner(d.id)
}

// servesPrograms reports whether a program may need an object of the kind to run: its
// workload, its identity, its permissions, its credentials and its address.
func servesPrograms(gk schema.GroupKind) bool {
	switch gk.Group {
	case "apps", "batch", "rbac.authorization.k8s.io":
		return true
	case "":
		return slices.Contains([]string{"Pod", "ReplicationController", "ServiceAccount", "Secret", "Service"}, gk.Kind)
	}
	return false
}

// reportWaiting names what a deleted owner waits for, and the finalizers that
// keep it.
func (p *pruning) reportWaiting(members []memberObject) {
	for _, m := range members {
		if m.deleting && !p.last(m) {
			p.reportHeld(m.id, m.finalizers)
		}
	}
	for _, d := range p.deletions {
		if p.terminates(d) {
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

// heldError has the finalizers of an object that is being deleted.
type heldError []string

// Error names them.
func (e heldError) Error() string { return "held by the finalizers " + strings.Join(e, ", ") }

// comesLast reports whether a surplus member is still to be deleted after
// everything else.
func (p *pruning) comesLast(m *surplusMember) bool {
	return p.last(m.memberObject) && m.result.Reason != apply.ReasonTerminating
}

// unfinished reports whether there is something to do about a surplus member
// before the owner may go.
func (p *pruning) unfinished(m *surplusMember) bool {
	return !p.last(m.memberObject) || m.result.Reason != apply.ReasonTerminating
}
