package engine

import (
	"encoding/json"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/reconcilekit/reconcilekit/reconcile/apply"
	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/content"
)

func (p *pruning) giveBack(r *plannedRelease) (apply.Outcome, error) {
	if r.unproven || p.deletedWithPart(r.found) {
		return apply.OutcomePruned, p.env.deleteExactly(p.ctx, r.result.GVK, r.id.Key, r.found.UID, r.found.ResourceVersion, "")
	}
	outcome, err := p.removePart(r)
	if apierrors.IsInvalid(err) {
		return p.giveUpPart(r, err)
	}
	return outcome, err
}

// removePart removes the fields that only this owner owns.
func (p *pruning) removePart(r *plannedRelease) (apply.Outcome, error) {
	version, err := leavePartEmpty(p.pass, part{
		kind: r.result.GVK, key: r.id.Key, uid: r.found.UID, version: r.found.ResourceVersion, manager: p.contributor, entries: r.found.ManagedFields,
	})
	if err != nil {
		return apply.OutcomeReleased, client.IgnoreNotFound(err)
	}
	data, err := content.PinnedBody(nil, r.result.GVK, r.id.Key, r.found.UID, version)
	if err != nil {
		return apply.OutcomeFailed, err
	}
	o := &metav1.PartialObjectMetadata{}
	o.SetGroupVersionKind(r.result.GVK)
	o.Name, o.Namespace = r.id.Key.Name, r.id.Key.Namespace
	err = p.env.client.Patch(p.ctx, o, client.RawPatch(types.ApplyPatchType, data),
		client.FieldOwner(p.contributor), client.ForceOwnership)
	return apply.OutcomeReleased, client.IgnoreNotFound(err)
}

// giveUpPart gives up the ownership of the contribution and leaves its values if the API server refuses to remove them, for example
// because a field is required. It is pinned to the version that was read.
func (p *pruning) giveUpPart(r *plannedRelease, refusal error) (apply.Outcome, error) {
	ours := func(e metav1.ManagedFieldsEntry) bool {
		return e.Manager == p.contributor && e.Operation == metav1.ManagedFieldsOperationApply && e.Subresource == ""
	}
	data, err := json.Marshal([]map[string]any{
		{"op": "test", "path": "/metadata/uid", "value": r.found.UID},
		{"op": "replace", "path": "/metadata/resourceVersion", "value": r.found.ResourceVersion},
		{"op": "add", "path": "/metadata/managedFields", "value": slices.DeleteFunc(slices.Clone(r.found.ManagedFields), ours)},
	})
	if err != nil {
		return apply.OutcomeFailed, err
	}
	o := &metav1.PartialObjectMetadata{}
	o.SetGroupVersionKind(r.result.GVK)
	o.Name, o.Namespace = r.id.Key.Name, r.id.Key.Namespace
	err = p.env.client.Patch(p.ctx, o, client.RawPatch(types.JSONPatchType, data), client.FieldOwner(p.env.options.FieldManager))
	if client.IgnoreNotFound(err) != nil {
		return apply.OutcomeFailed, err
	}
	r.result.Reason = apply.ReasonValuesStay
	log.FromContext(p.ctx).Info("the values of a contribution stay, because the object would be invalid without them; only their ownership is given up",
		"target", r.id.String(), "refusal", refusal.Error())
	return apply.OutcomeReleased, nil
}
