package engine

import (
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"

	"github.com/reconcilekit/reconcilekit/reconcile/apply"
	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/applyset"
	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/fieldset"
	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/memory"
)

// lostEntry reports whether managedFields have no entry of the engine although it has applied to this object. It is false if other
// managers have taken all fields of the entry.
func lostEntry(c *child, entries []metav1.ManagedFieldsEntry) bool {
	if c.recall.Owned == (memory.OwnedFields{}) || fieldset.Entry(entries, c.manager) != nil {
		return false
	}
	lost, err := c.recall.Owned.Without(entries)
	return err == nil && len(lost) > 0
}

// lostAll reports whether the engine's entry is missing while some of its fields still exist.
func lostAll(c *child) bool {
	return c.observed.Own.Entry == nil && lostEntry(c, c.live.GetManagedFields()) && c.recall.Owned.Set().Intersects(c.observed.Content)
}

// lostPart reports whether the engine's entry lost fields that still exist without an owner and that no apply would own again, because
// they left the plan or are sent once.
func lostPart(c *child, owner types.UID) bool {
	own, once := c.observed.Own, pathsSentOnce(c)
	if own.Entry == nil || own.Version != c.kind.GVK.GroupVersion().String() || c.recall.Owned == (memory.OwnedFields{}) ||
		(c.recall.LastIntent == c.hash && len(once) == 0) || hidesOwners(c) || c.recall.Owned == memory.Remembered(own.Entry, owner) {
		return false
	}
	lost, err := c.recall.Owned.Without(c.live.GetManagedFields())
	if err != nil || len(lost) == 0 {
		return false
	}
	sent := runtime.DeepCopyJSON(c.content)
	for _, path := range once {
		path.Remove(sent)
	}
	fieldset.TakePlanned(lost, sent)
	raw, err := fieldset.EncodeFields(lost)
	if err != nil || len(lost) == 0 {
		return false
	}
	set, err := fieldset.Parse(raw.GetRawBytes())
	return err == nil && set.Intersects(c.observed.Content)
}

// hasFormerManagers reports whether fields are owned under a former name: a former manager, or the engine's own field manager by update.
func hasFormerManagers(p *pass, c *child) bool {
	return slices.ContainsFunc(c.live.GetManagedFields(), func(e metav1.ManagedFieldsEntry) bool {
		if !isFormer(p, c, &e) {
			return false
		}
		moved, _, err := splitFormer(p, c, &e)
		return err != nil || len(moved) > 0
	})
}

// isFormer reports whether the entry was written by a former manager or in another mode of the child.
func isFormer(p *pass, c *child, e *metav1.ManagedFieldsEntry) bool {
	former := e.Subresource == "" && slices.Contains(p.env.options.FormerManagers, e.Manager)
	switch {
	case e.Subresource != "":
		return false
	case c.planned.Mode == apply.Contribute: // see splitContribution
		return former
	case e.Manager == c.manager:
		return e.Operation == metav1.ManagedFieldsOperationUpdate
	}
	return former || formerMode(p, c, e)
}

// splitFormer splits the fields of a former manager into those that are moved and those that stay in an entry of their own (nil for none).
// A child may itself own children under the same field manager. Its unplanned finalizers and the inventory of its own children do not
// belong to its owner's plan and must stay.
func splitFormer(p *pass, c *child, e *metav1.ManagedFieldsEntry) (moved map[string]any, kept *metav1.ManagedFieldsEntry, err error) {
	moved, err = fieldset.RawFields(e)
	if err != nil {
		return nil, nil, err
	}
	if c.planned.Mode == apply.Contribute {
		return splitContribution(c, e, moved)
	}
	metadata, _ := moved["f:metadata"].(map[string]any)
	stays := map[string]any{}
	if planned, _ := c.content["metadata"].(map[string]any); planned["finalizers"] == nil {
		fieldset.MoveField(metadata, stays, "f:finalizers")
	}
	for below, names := range p.env.inventoryNames() {
		from, _ := metadata["f:"+below].(map[string]any)
		to := map[string]any{}
		for _, name := range names {
			fieldset.MoveField(from, to, "f:"+name)
		}
		if len(to) > 0 {
			stays["f:"+below] = to
		}
		if _, itself := from["."]; len(from) == 0 || (itself && len(from) == 1) {
			delete(metadata, "f:"+below)
		}
	}
	if len(metadata) == 0 {
		delete(moved, "f:metadata")
	}
	if len(stays) > 0 {
		stays = map[string]any{"f:metadata": stays}
	}
	if c.planned.Mode == apply.Shared && !formerMode(p, c, e) && e.Manager != c.manager {
		// A former version wrote for all owners under one name: the parts of the other owners are unknown here.
		rest := moved
		moved = fieldset.TakePlanned(rest, c.content)
		fieldset.UnionFields(stays, rest)
	}
	kept, err = entryOf(e, stays)
	return moved, kept, err
}

// splitContribution moves the fields of a former manager that are planned, or that an earlier plan contributed. If the former manager kept
// a field, such as a finalizer of the owner, the field would stay after it leaves the plan. The other fields may belong to the owner of
// the object.
func splitContribution(c *child, e *metav1.ManagedFieldsEntry, stays map[string]any) (moved map[string]any, kept *metav1.ManagedFieldsEntry, err error) {
	moved = fieldset.TakePlanned(stays, c.content)
	if own := c.observed.Own.Entry; own != nil {
		before, err := fieldset.RawFields(own)
		if err != nil {
			return nil, nil, err
		}
		fieldset.UnionFields(moved, fieldset.TakeCommon(stays, before))
	}
	kept, err = entryOf(e, stays)
	return moved, kept, err
}

// entryOf returns the entry with other fields, nil if there are none.
func entryOf(e *metav1.ManagedFieldsEntry, stays map[string]any) (*metav1.ManagedFieldsEntry, error) {
	if len(stays) == 0 {
		return nil, nil
	}
	fields, err := fieldset.EncodeFields(stays)
	if err != nil {
		return nil, err
	}
	entry := *e
	entry.FieldsV1 = fields
	return &entry, nil
}

// formerMode reports whether the entry was written when the plan had the child in another mode: under the manager of this owner alone, or
// under the common manager for an object of this owner.
func formerMode(p *pass, c *child, e *metav1.ManagedFieldsEntry) bool {
	applies := e.Operation == metav1.ManagedFieldsOperationApply
	if c.planned.Mode != apply.Shared {
		return applies && e.Manager == p.contributor()
	}
	if e.Manager != p.env.options.FieldManager || (!applies && !fieldset.OwnsMetadata(e, "labels", applyset.PartOfLabel)) {
		return false
	}
	if controller := metav1.GetControllerOfNoCopy(c.live); controller != nil {
		return controller.UID == p.owner.GetUID()
	}
	if isLabelled(c.live) {
		return inSet(p, c.live)
	}
	// A retained object becomes the part of the first owner that shares it. An owner that already has a part leaves the rest to other
	// owners, which may still retain it.
	return fieldset.Entry(c.live.GetManagedFields(), c.manager) == nil
}
