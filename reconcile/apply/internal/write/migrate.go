package write

import (
	"encoding/json"
	"fmt"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/reconcilekit/reconcilekit/reconcile/apply"
	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/decide"
	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/fieldset"
	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/memory"
	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/ownership"
	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/pass"
)

// restored reports whether the object, whose entry of ours was given back, is as
// planned: nothing else was lost. after is the object as it was answered.
func restored(p *pass.Pass, c *pass.Child, after *metav1.PartialObjectMetadata) bool {
	m := c.Memory
	entry := fieldset.Entry(after.ManagedFields, c.Manager)
	if !decide.LostEntry(c, c.Live.GetManagedFields()) || !m.Proves(c.Hash) {
		return false
	}
	live, err := p.Env.Encoder.Live(c.Live)
	if err != nil || !m.Known(after.UID) {
		return false
	}
	set := memory.Remembered(entry, p.Owner.GetUID()).Set()
	if len(c.Planned.Fields) > 0 || !m.ProvesProjection(c.Hash, decide.Projection(p, c, set, live)) || !fieldset.Taken(c.Kind.Schema, set, c.Content, live) {
		return false
	}
	m.Wrote(after, p.Now)
	m.Accept(c.Hash, after.ResourceVersion)
	m.Owns(memory.Remembered(entry, p.Owner.GetUID()))
	c.Result.Outcome = apply.OutcomeUpdated
	return true
}

// migrate moves the fields of former managers to ours, and gives back to us
// what we owned before managedFields were lost, so that the apply that follows
// removes what is no longer planned. It works on the live
// object, as caches may shorten entries, and only on the version it has read.
//
// It reports whether that was all: the object is as planned.
func migrate(p *pass.Pass, c *pass.Child) (right bool, err error) {
	live, err := writtenBy(p, c)
	if err != nil {
		return false, fmt.Errorf("read the field managers: %w", err)
	}
	if live == nil || live.UID != c.UID {
		return false, fmt.Errorf("migrate the field managers: %w", ownership.ErrReplaced)
	}
	entries, err := merged(p, c, live.ManagedFields)
	if err != nil {
		return false, fmt.Errorf("migrate the field managers: %w", err)
	}
	data, err := json.Marshal([]map[string]any{
		{"op": "add", "path": "/metadata/managedFields", "value": entries},
		{"op": "replace", "path": "/metadata/resourceVersion", "value": live.ResourceVersion},
	})
	if err != nil {
		return false, fmt.Errorf("migrate the field managers: %w", err)
	}
	if err := p.Env.Client.Patch(p.Ctx, live, client.RawPatch(types.JSONPatchType, data),
		client.FieldOwner(p.Env.Options.FieldManager)); err != nil {
		return false, fmt.Errorf("migrate the field managers: %w", err)
	}
	return restored(p, c, live), nil
}

// writtenBy returns the metadata with all field managers: from the cache where
// that keeps them, else live. A patch with an old version is refused.
func writtenBy(p *pass.Pass, c *pass.Child) (*metav1.PartialObjectMetadata, error) {
	cached := c.Live.GetManagedFields()
	if decide.FormerManagers(p, c) || slices.ContainsFunc(cached, func(e metav1.ManagedFieldsEntry) bool { return e.FieldsV1 == nil }) {
		return p.LiveMetadata(c.Kind.GVK, c.ID.Key)
	}
	m := &metav1.PartialObjectMetadata{}
	m.SetGroupVersionKind(c.Kind.GVK)
	m.Name, m.Namespace, m.UID = c.ID.Key.Name, c.ID.Key.Namespace, c.Live.GetUID()
	m.ResourceVersion, m.ManagedFields = c.Live.GetResourceVersion(), cached
	return m, nil
}

// merged is the list of entries with those of former managers in ours.
func merged(p *pass.Pass, c *pass.Child, entries []metav1.ManagedFieldsEntry) ([]metav1.ManagedFieldsEntry, error) {
	own := metav1.ManagedFieldsEntry{
		Manager: c.Manager, Operation: metav1.ManagedFieldsOperationApply,
		APIVersion: c.Kind.GVK.GroupVersion().String(), FieldsType: "FieldsV1",
	}
	fields := map[string]any{}
	lost := decide.LostEntry(c, entries) || c.Result.Reason == apply.ReasonOwnershipLost
	var rest []metav1.ManagedFieldsEntry
	for i := range entries {
		e := &entries[i]
		mine := e.Manager == c.Manager && e.Operation == metav1.ManagedFieldsOperationApply && e.Subresource == ""
		if !mine && !decide.Former(p, c, e) {
			rest = append(rest, *e)
			continue
		}
		if e.Time != nil && (own.Time == nil || own.Time.Before(e.Time)) {
			own.Time = e.Time
		}
		if mine {
			more, err := fieldset.RawFields(e)
			if err != nil {
				return nil, err
			}
			fieldset.UnionFields(fields, more)
			continue
		}
		more, kept, err := decide.Split(p, c, e)
		if err != nil {
			return nil, err
		}
		fieldset.UnionFields(fields, more)
		if kept != nil {
			rest = append(rest, *kept)
		}
	}
	if lost {
		var err error
		if rest, err = c.Memory.Owned().Restore(fields, rest); err != nil {
			return nil, fmt.Errorf("restore our entry: %w", err)
		}
	}
	raw, err := json.Marshal(fields)
	if err != nil {
		return nil, err
	}
	own.FieldsV1 = metav1.NewFieldsV1(string(raw))
	return append(rest, own), nil
}

// takeFromController removes the controller reference of somebody else from an
// object that the plan adopts, in the version that was seen.
func takeFromController(p *pass.Pass, c *pass.Child) error {
	if c.Planned.Adoption != apply.AdoptControlled || c.Live == nil {
		return nil
	}
	refs := c.Live.GetOwnerReferences()
	var kept []metav1.OwnerReference
	for _, ref := range refs {
		if ref.Controller == nil || !*ref.Controller || ref.UID == p.Owner.GetUID() {
			kept = append(kept, ref)
		}
	}
	if len(kept) == len(refs) {
		return nil
	}
	data, err := json.Marshal(map[string]any{"metadata": map[string]any{
		"uid": c.UID, "resourceVersion": c.Live.GetResourceVersion(), "ownerReferences": kept,
	}})
	if err != nil {
		return err
	}
	o := &metav1.PartialObjectMetadata{}
	o.SetGroupVersionKind(c.Kind.GVK)
	o.Name, o.Namespace = c.ID.Key.Name, c.ID.Key.Namespace
	if err := p.Env.Client.Patch(p.Ctx, o, client.RawPatch(types.MergePatchType, data),
		client.FieldOwner(p.Env.Options.FieldManager)); err != nil {
		return fmt.Errorf("take over from its controller: %w", err)
	}
	return nil
}
