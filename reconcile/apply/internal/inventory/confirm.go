package inventory

import (
	"fmt"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/reconcilekit/reconcilekit/reconcile/apply"
	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/pass"
)

// A process that has just started may have an owner in its cache that another process has let go already. What it would make for that owner,
// garbage collection removes where it has the owner's reference; of the rest nobody would know any more. So this process has to have written the
// owner, or to have read it from the API server, before it writes anything that outlives the owner.

// Confirm reads the owner from the API server, unless this process knows that it is there. The error is a NotFound when it is gone or another
// one has its name, and a Conflict when it is being deleted and the cache does not show that yet.
func Confirm(p *pass.Pass) error {
	m := &p.Memory.Metadata
	if m.Confirmed || p.Group != nil {
		return nil
	}
	found, err := p.LiveMetadata(p.OwnerKind.GVK, client.ObjectKeyFromObject(p.Owner))
	resource := schema.GroupResource{Group: p.OwnerKind.GVK.Group, Resource: p.OwnerKind.GVK.Kind}
	switch {
	case err != nil:
		return fmt.Errorf("read the owner from the API server: %w", err)
	case found == nil || found.UID != p.Owner.GetUID():
		return apierrors.NewNotFound(resource, p.Owner.GetName())
	case found.DeletionTimestamp != nil && !p.Finalize:
		return apierrors.NewConflict(resource, p.Owner.GetName(), errDeleted)
	}
	m.Confirmed = true
	return nil
}

// outlives reports whether the plan writes something that garbage collection does not remove with the owner.
func outlives(p *pass.Pass) bool {
	return slices.ContainsFunc(p.Children, func(c *pass.Child) bool {
		if c.Action == pass.ActionNone || c.Kind == nil {
			return false
		}
		return !c.Reach || (c.Planned.Mode != apply.Own && c.Planned.Mode != apply.Once)
	})
}
