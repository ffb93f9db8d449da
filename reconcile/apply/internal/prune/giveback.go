package prune

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/reconcilekit/reconcilekit/reconcile/apply"
	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/content"
	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/ownership"
	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/write"
)

func (p *Prune) giveBack(r *plannedRelease) (apply.Outcome, error) {
	if ownership.GoesWithPart(p.Pass, r.found) {
		return apply.OutcomePruned, p.Env.DeleteExactly(p.Ctx, r.Result.GVK, r.id.Key, r.found.UID, r.found.ResourceVersion, "")
	}
	version, err := write.LeaveEmpty(p.Pass, write.Part{
		Kind: r.Result.GVK, Key: r.id.Key, UID: r.found.UID, Version: r.found.ResourceVersion, Manager: p.Contributor(), Entries: r.found.ManagedFields,
	})
	if err != nil {
		return apply.OutcomeReleased, client.IgnoreNotFound(err)
	}
	// An apply of nothing removes what this owner owns alone.
	data, err := content.PinnedBody(nil, r.Result.GVK, r.id.Key, r.found.UID, version)
	if err != nil {
		return apply.OutcomeFailed, err
	}
	o := &metav1.PartialObjectMetadata{}
	o.SetGroupVersionKind(r.Result.GVK)
	o.Name, o.Namespace = r.id.Key.Name, r.id.Key.Namespace
	err = p.Env.Client.Patch(p.Ctx, o, client.RawPatch(types.ApplyPatchType, data),
		client.FieldOwner(p.Contributor()), client.ForceOwnership)
	return apply.OutcomeReleased, client.IgnoreNotFound(err)
}
