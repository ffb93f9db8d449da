package engine

import (
	"encoding/json"
	"fmt"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/reconcilekit/reconcilekit/reconcile/apply"
	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/applyset"
	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/managedfields"
)

// formerManagers reports whether fields are owned under a name of ours from
// before: a former manager, or our own name by update.
func (p *pass) formerManagers(c *planned) bool {
	return slices.ContainsFunc(c.live.GetManagedFields(), func(e metav1.ManagedFieldsEntry) bool {
		if !p.former(c, &e) {
			return false
		}
		moved, _, err := p.split(c, &e)
		return err != nil || len(moved) > 0
	})
}

func (p *pass) former(c *planned, e *metav1.ManagedFieldsEntry) bool {
	if e.Subresource != "" || c.child.Mode == apply.Contribute { // the rest of such an object is somebody else's
		return false
	}
	if e.Manager == c.manager {
		return e.Operation == metav1.ManagedFieldsOperationUpdate
	}
	if p.formerMode(c, e) {
		return true
	}
	return slices.Contains(p.engine.opts.FormerManagers, e.Manager)
}

// migrate moves the fields of former managers to ours, and gives back to us
// what we owned before managedFields were lost, so that the apply that follows
// removes what is no longer planned. It works on the live
// object, as caches may shorten entries, and only on the version it has read.
//
// It reports whether that was all: the object is as planned.
func (p *pass) migrate(c *planned) (right bool, err error) {
	live, err := p.writtenBy(c)
	if err != nil {
		return false, fmt.Errorf("read the field managers: %w", err)
	}
	if live == nil || live.UID != c.uid {
		return false, fmt.Errorf("migrate the field managers: %w", errReplaced)
	}
	entries, err := p.merged(c, live.ManagedFields)
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
	if err := p.engine.client.Patch(p.ctx, live, client.RawPatch(types.JSONPatchType, data),
		client.FieldOwner(p.engine.opts.FieldManager)); err != nil {
		return false, fmt.Errorf("migrate the field managers: %w", err)
	}
	return p.restored(c, live), nil
}

// writtenBy returns the metadata with all field managers: from the cache where
// that keeps them, else live. A patch with an old version is refused.
func (p *pass) writtenBy(c *planned) (*metav1.PartialObjectMetadata, error) {
	cached := c.live.GetManagedFields()
	if p.formerManagers(c) || slices.ContainsFunc(cached, func(e metav1.ManagedFieldsEntry) bool { return e.FieldsV1 == nil }) {
		return p.liveMetadata(c.kind.GVK, c.id.Key)
	}
	m := &metav1.PartialObjectMetadata{}
	m.SetGroupVersionKind(c.kind.GVK)
	m.Name, m.Namespace, m.UID = c.id.Key.Name, c.id.Key.Namespace, c.live.GetUID()
	m.ResourceVersion, m.ManagedFields = c.live.GetResourceVersion(), cached
	return m, nil
}

// merged is the list of entries with those of former managers in ours.
func (p *pass) merged(c *planned, entries []metav1.ManagedFieldsEntry) ([]metav1.ManagedFieldsEntry, error) {
	own := metav1.ManagedFieldsEntry{
		Manager: c.manager, Operation: metav1.ManagedFieldsOperationApply,
		APIVersion: c.kind.GVK.GroupVersion().String(), FieldsType: "FieldsV1",
	}
	fields := map[string]any{}
	lost := c.lostEntry(entries)
	var rest []metav1.ManagedFieldsEntry
	for i := range entries {
		e := &entries[i]
		mine := e.Manager == c.manager && e.Operation == metav1.ManagedFieldsOperationApply && e.Subresource == ""
		if !mine && !p.former(c, e) {
			rest = append(rest, *e)
			continue
		}
		if e.Time != nil && (own.Time == nil || own.Time.Before(e.Time)) {
			own.Time = e.Time
		}
		if mine {
			more, err := managedfields.RawFields(e)
			if err != nil {
				return nil, err
			}
			managedfields.UnionFields(fields, more)
			continue
		}
		more, kept, err := p.split(c, e)
		if err != nil {
			return nil, err
		}
		managedfields.UnionFields(fields, more)
		if kept != nil {
			rest = append(rest, *kept)
		}
	}
	if lost {
		var err error
		if rest, err = c.memory.Owned.Restore(fields, rest); err != nil {
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

// split tells the fields of a former manager that are moved from those that
// stay as they are, in an entry of their own (nil for none): a child may be
// the owner of other children, under the same field manager. Its finalizers,
// unless they are planned, and the inventory of its own children are no part
// of what its owner wants, and must not go for that.
func (p *pass) split(c *planned, e *metav1.ManagedFieldsEntry) (moved map[string]any, kept *metav1.ManagedFieldsEntry, err error) {
	moved, err = managedfields.RawFields(e)
	if err != nil {
		return nil, nil, err
	}
	metadata, _ := moved["f:metadata"].(map[string]any)
	stays := map[string]any{}
	if planned, _ := c.content["metadata"].(map[string]any); planned["finalizers"] == nil {
		managedfields.MoveField(metadata, stays, "f:finalizers")
	}
	for below, names := range p.engine.inventoryNames() {
		from, _ := metadata["f:"+below].(map[string]any)
		to := map[string]any{}
		for _, name := range names {
			managedfields.MoveField(from, to, "f:"+name)
		}
		if len(to) > 0 {
			stays["f:"+below] = to
		}
		if _, itself := from["."]; len(from) == 0 || (itself && len(from) == 1) {
			delete(metadata, "f:"+below)
		}
	}
	if len(stays) == 0 {
		return moved, nil, nil
	}
	if len(metadata) == 0 {
		delete(moved, "f:metadata")
	}
	raw, err := json.Marshal(map[string]any{"f:metadata": stays})
	if err != nil {
		return nil, nil, err
	}
	entry := *e
	entry.FieldsV1 = metav1.NewFieldsV1(string(raw))
	return moved, &entry, nil
}

// inventoryNames are the labels and annotations that the engine keeps on
// owners.
func (e *env) inventoryNames() map[string][]string {
	names := map[string][]string{}
	for _, k := range []*applyset.Keys{&e.standardKeys, &e.ownKeys} {
		names["labels"] = append(names["labels"], k.ID)
		names["annotations"] = append(names["annotations"], k.Annotations()...)
	}
	return names
}

// takeFromController removes the controller reference of somebody else from an
// object that the plan adopts, in the version that was seen.
func (p *pass) takeFromController(c *planned) error {
	if c.child.Adoption != apply.AdoptControlled || c.live == nil {
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
	if err := p.engine.client.Patch(p.ctx, o, client.RawPatch(types.MergePatchType, data),
		client.FieldOwner(p.engine.opts.FieldManager)); err != nil {
		return fmt.Errorf("take over from its controller: %w", err)
	}
	return nil
}
