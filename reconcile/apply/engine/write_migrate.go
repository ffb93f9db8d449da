package engine

import (
	"encoding/json"
	"fmt"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/reconcilekit/reconcilekit/reconcile/apply"
	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/fieldset"
	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/memory"
)

// isRestored reports whether the object is as planned after the engine's entry was restored, so that nothing else was lost. after is the
// returned object.
func isRestored(p *pass, c *child, after *metav1.PartialObjectMetadata) bool {
	m := c.memory
	entry := fieldset.Entry(after.ManagedFields, c.manager)
	if !c.lostEntry(c.live.GetManagedFields()) || !m.Proves(c.hash) {
		return false
	}
	live, err := p.env.encoder.Live(c.live)
	if err != nil || !m.Known(after.UID) {
		return false
	}
	set := memory.Remembered(entry, p.owner.GetUID()).Set()
	if len(c.planned.Fields) > 0 || !m.ProvesProjection(c.hash, c.projectionOf(set, live)) || !fieldset.Taken(c.kind.Schema, set, c.content, live) {
		return false
	}
	m.Wrote(after, p.now)
	m.Accept(c.hash, after.ResourceVersion)
	m.Owns(memory.Remembered(entry, p.owner.GetUID()))
	c.result.Outcome = apply.OutcomeUpdated
	return true
}

// migrateManagers moves the fields of former managers to the engine's field manager, and restores ownership that was lost with
// managedFields. The following apply then removes the fields that left the plan. It reads the object live, because caches may shorten
// entries, and pins the write to that version.
//
// It reports whether the object is as planned after the migration.
func migrateManagers(p *pass, c *child) (right bool, err error) {
	live, err := writtenBy(p, c)
	if err != nil {
		return false, fmt.Errorf("read the field managers: %w", err)
	}
	if live == nil || live.UID != c.uid {
		return false, fmt.Errorf("migrate the field managers: %w", errReplaced)
	}
	entries, err := mergeEntries(c, live.ManagedFields)
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
	if err := p.env.client.Patch(p.ctx, live, client.RawPatch(types.JSONPatchType, data),
		client.FieldOwner(p.env.options.FieldManager)); err != nil {
		return false, fmt.Errorf("migrate the field managers: %w", err)
	}
	return isRestored(p, c, live), nil
}

// writtenBy returns the metadata with all field managers: from the cache if it keeps them, live otherwise. A patch with a stale version is
// refused.
func writtenBy(p *pass, c *child) (*metav1.PartialObjectMetadata, error) {
	cached := c.live.GetManagedFields()
	if c.hasFormerManagers() || slices.ContainsFunc(cached, func(e metav1.ManagedFieldsEntry) bool { return e.FieldsV1 == nil }) {
		return p.liveMetadata(c.kind.GVK, c.id.Key)
	}
	m := &metav1.PartialObjectMetadata{}
	m.SetGroupVersionKind(c.kind.GVK)
	m.Name, m.Namespace, m.UID = c.id.Key.Name, c.id.Key.Namespace, c.live.GetUID()
	m.ResourceVersion, m.ManagedFields = c.live.GetResourceVersion(), cached
	return m, nil
}

// mergeEntries returns the entries, with those of former managers merged into the engine's.
func mergeEntries(c *child, entries []metav1.ManagedFieldsEntry) ([]metav1.ManagedFieldsEntry, error) {
	own := metav1.ManagedFieldsEntry{
		Manager: c.manager, Operation: metav1.ManagedFieldsOperationApply,
		APIVersion: c.kind.GVK.GroupVersion().String(), FieldsType: "FieldsV1",
	}
	fields := map[string]any{}
	lost := c.lostEntry(entries) || c.result.Reason == apply.ReasonOwnershipLost
	var rest []metav1.ManagedFieldsEntry
	for i := range entries {
		e := &entries[i]
		mine := e.Manager == c.manager && e.Operation == metav1.ManagedFieldsOperationApply && e.Subresource == ""
		if !mine && !c.isFormer(e) {
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
		more, kept, err := c.splitFormer(e)
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
		if rest, err = c.memory.Owned().Restore(fields, rest); err != nil {
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

// takeFromController removes the controller reference of another owner from an adopted object, pinned to the version that was read.
func takeFromController(p *pass, c *child) error {
	if c.live == nil || (c.planned.Adoption != apply.AdoptControlled && !p.adopts(c.live)) {
		return nil
	}
	refs := c.live.GetOwnerReferences()
	var kept []metav1.OwnerReference
	for _, ref := range refs {
		if ref.Controller == nil || !*ref.Controller || ref.UID == p.owner.GetUID() {
			kept = append(kept, ref)
		}
	}
	if len(kept) == len(refs) {
		return nil
	}
	data, err := json.Marshal(map[string]any{"metadata": map[string]any{
		"uid": c.uid, "resourceVersion": c.live.GetResourceVersion(), "ownerReferences": kept,
	}})
	if err != nil {
		return err
	}
	o := &metav1.PartialObjectMetadata{}
	o.SetGroupVersionKind(c.kind.GVK)
	o.Name, o.Namespace = c.id.Key.Name, c.id.Key.Namespace
	if err := p.env.client.Patch(p.ctx, o, client.RawPatch(types.MergePatchType, data),
		client.FieldOwner(p.env.options.FieldManager)); err != nil {
		return fmt.Errorf("take over from its controller: %w", err)
	}
	return nil
}
