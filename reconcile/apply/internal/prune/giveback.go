package prune

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
	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/ownership"
	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/write"
)

func (p *Prune) giveBack(r *plannedRelease) (apply.Outcome, error) {
	if ownership.GoesWithPart(p.Pass, r.found) {
		return apply.OutcomePruned, p.Env.DeleteExactly(p.Ctx, r.Result.GVK, r.id.Key, r.found.UID, r.found.ResourceVersion, "")
	}
	outcome, err := p.removePart(r)
	if apierrors.IsInvalid(err) {
		return p.giveUpPart(r, err)
	}
	return outcome, err
}

// removePart removes the fields that this owner owns alone.
func (p *Prune) removePart(r *plannedRelease) (apply.Outcome, error) {
	version, err := write.LeaveEmpty(p.Pass, write.Part{
		Kind: r.Result.GVK, Key: r.id.Key, UID: r.found.UID, Version: r.found.ResourceVersion, Manager: p.Contributor(), Entries: r.found.ManagedFields,
	})
	if err != nil {
		return apply.OutcomeReleased, client.IgnoreNotFound(err)
	}
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

// giveUpPart gives up the ownership of the contribution and leaves its values, where the API server
// refuses to remove them: fields that are required, or that may only grow. It
// acts on the version that was looked at.
func (p *Prune) giveUpPart(r *plannedRelease, refusal error) (apply.Outcome, error) {
	ours := func(e metav1.ManagedFieldsEntry) bool {
		return e.Manager == p.Contributor() && e.Operation == metav1.ManagedFieldsOperationApply && e.Subresource == ""
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
	o.SetGroupVersionKind(r.Result.GVK)
	o.Name, o.Namespace = r.id.Key.Name, r.id.Key.Namespace
	err = p.Env.Client.Patch(p.Ctx, o, client.RawPatch(types.JSONPatchType, data), client.FieldOwner(p.Env.Options.FieldManager))
	if client.IgnoreNotFound(err) != nil {
		return apply.OutcomeFailed, err
	}
	r.Result.Reason = apply.ReasonValuesStay
	log.FromContext(p.Ctx).Info("the values of a contribution stay, because the object would be invalid without them; only their ownership is given up",
		"target", r.id.String(), "refusal", refusal.Error())
	return apply.OutcomeReleased, nil
}
