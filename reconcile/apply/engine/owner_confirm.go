package engine

import (
	"fmt"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/reconcilekit/reconcilekit/reconcile/apply"
)

// A process that has just started may read an owner from its cache that another process has already finalized. Garbage collection deletes
// new children that refer to such an owner; other objects would remain. So this process must have written the owner, or read it from the
// API server, before it writes anything that outlives the owner.

// confirmOwner reads the owner from the API server, unless this process knows that it exists. The error is a NotFound if the owner is gone
// or replaced, and a Conflict if it is being deleted and the cache does not show that yet.
func confirmOwner(p *pass) error {
	m := &p.memory.Metadata
	if m.Confirmed || p.group != nil {
		return nil
	}
	if err := readOwner(p); err != nil {
		return err
	}
	m.Confirmed = true
	return nil
}

// readOwner reads the owner from the API server. The error is that of [confirmOwner].
func readOwner(p *pass) error {
	found, err := p.liveMetadata(p.ownerKind.GVK, client.ObjectKeyFromObject(p.owner))
	resource := schema.GroupResource{Group: p.ownerKind.GVK.Group, Resource: p.ownerKind.GVK.Kind}
	switch {
	case err != nil:
		return fmt.Errorf("read the owner from the API server: %w", err)
	case found == nil || found.UID != p.owner.GetUID():
		return apierrors.NewNotFound(resource, p.owner.GetName())
	case found.DeletionTimestamp != nil && !p.finalize:
		return apierrors.NewConflict(resource, p.owner.GetName(), errDeleted)
	}
	return nil
}

// confirmSet returns an error if the member may belong to another owner that has replaced this one under its name, which the cache does not
// show yet. A member that refers to the owner by its UID, or that this process knows, does not.
func (p *pruning) confirmSet(m memberObject) error {
	if m.reached || !m.unknown || p.group != nil || p.current {
		return nil
	}
	if err := readOwner(p.pass); err != nil {
		return err
	}
	p.current = true
	return nil
}

// outlivesOwner reports whether the plan writes something that garbage collection does not delete with the owner.
func outlivesOwner(p *pass) bool {
	return slices.ContainsFunc(p.children, func(c *child) bool {
		if c.action == actionNone || c.kind == nil {
			return false
		}
		return !c.reach || (c.planned.Mode != apply.Own && c.planned.Mode != apply.Once)
	})
}
