package prune

import (
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/reconcilekit/reconcilekit/reconcile/apply"
	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/applyset"
	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/pass"
)

// servesFor is how long a deleted owner keeps children that a program needs to run while the
// finalizer of another child holds: the program may be the one that removes this finalizer.
const servesFor = 5 * time.Minute

// holdsOwner reports whether an object cannot be gone before the owner is: the
// owner itself, its namespace and the definition of its kind. An owner that
// waits for one of them waits for itself.
func (p *Prune) holdsOwner(id applyset.ObjectID) bool {
	switch id.GroupKind {
	case schema.GroupKind{Kind: "Namespace"}:
		return id.Key.Name == p.Owner.GetNamespace()
	case schema.GroupKind{Group: "apiextensions.k8s.io", Kind: "CustomResourceDefinition"}:
		gk := p.OwnerKind.GVK.GroupKind()
		if _, group, _ := strings.Cut(id.Key.Name, "."); p.Group != nil || group != gk.Group {
			return false
		}
		mapping, err := p.Env.Client.RESTMapper().RESTMapping(gk, p.OwnerKind.GVK.Version)
		return err == nil && mapping.Resource.GroupResource().String() == id.Key.Name
	}
	return p.IsOwner(id)
}

// last reports whether a member is deleted after everything else, and not
// waited for.
func (p *Prune) last(m memberObject) bool { return p.Finalize && p.holdsOwner(m.id) }

// awaited reports whether the owner waits for one of the members.
func (p *Prune) awaited(members []memberObject) bool {
	return slices.ContainsFunc(members, func(m memberObject) bool { return !p.last(m) })
}

// addNear adds to the members that a deleted owner has to delete itself those
// that garbage collection reaches, while one of the others does not go: its
// finalizer may wait for them, and garbage collection starts when the owner is
// gone. The owner does not wait for them once the others are gone.
func (p *Prune) addNear(own, near []memberObject) []memberObject {
	m := &p.Memory.Prune
	goes := func(o memberObject) bool { return o.deleting && !p.last(o) }
	if !p.Finalize || !slices.ContainsFunc(own, goes) && !slices.ContainsFunc(p.Deletions, p.terminates) {
		m.Waiting = time.Time{}
		return own
	}
	if m.Waiting.IsZero() {
		m.Waiting = p.Now
	}
	for _, o := range near {
		if !serves(o.id.GroupKind) || p.Now.Sub(m.Waiting) >= servesFor {
			own = append(own, o)
		}
	}
	return own
}

// terminates reports whether the object of a planned deletion is still there
// and the owner waits for it.
func (p *Prune) terminates(d *pass.Deletion) bool {
	return d.Result.Reason == apply.ReasonTerminating && !p.holdsOwner(d.ID)
}

// serves reports whether a program may need an object of the kind to run: its
// workload, its identity, its permissions, its credentials and its address.
func serves(gk schema.GroupKind) bool {
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
func (p *Prune) reportWaiting(members []memberObject) {
	for _, m := range members {
		if m.deleting && !p.last(m) {
			p.reportHeld(m.id, m.finalizers)
		}
	}
	for _, d := range p.Deletions {
		if p.terminates(d) {
			p.reportHeld(d.ID, d.Finalizers)
		}
	}
}

func (p *Prune) reportHeld(id applyset.ObjectID, finalizers []string) {
	blocked := &apply.PruneBlockedError{Reason: apply.ReasonTerminating, Objects: []string{id.String()}}
	if len(finalizers) > 0 {
		blocked.Cause = heldError(finalizers)
	}
	p.Block(blocked)
}

// heldError has the finalizers of an object that is being deleted.
type heldError []string

// Error names them.
func (e heldError) Error() string { return "held by the finalizers " + strings.Join(e, ", ") }

// comesLast reports whether a surplus member is still to be deleted after
// everything else.
func (p *Prune) comesLast(m *surplusMember) bool {
	return p.last(m.memberObject) && m.Result.Reason != apply.ReasonTerminating
}

// unfinished reports whether there is something to do about a surplus member
// before the owner may go.
func (p *Prune) unfinished(m *surplusMember) bool {
	return !p.last(m.memberObject) || m.Result.Reason != apply.ReasonTerminating
}
