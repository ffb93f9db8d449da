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

// lostEntry reports whether the entries have none of ours although we have
// applied to this very object, and not because others have taken all that was in it.
func lostEntry(c *child, entries []metav1.ManagedFieldsEntry) bool {
	if c.recall.Owned == (memory.OwnedFields{}) || fieldset.Entry(entries, c.manager) != nil {
		return false
	}
	lost, err := c.recall.Owned.Without(entries)
	return err == nil && len(lost) > 0
}

// lostAll reports whether our entry is gone, and something of what was in it is there.
func lostAll(c *child) bool {
	return c.observed.Own.Entry == nil && lostEntry(c, c.live.GetManagedFields()) && c.recall.Owned.Set().Intersects(c.observed.Content)
}

// lostPart reports whether fields were cut out of our entry that are there and
// nobody's now, and that no apply would make ours again: the plan does not name
// them any more, or they are sent once.
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

// hasFormerManagers reports whether fields are owned under a name of ours from
// before: a former manager, or our own name by update.
func hasFormerManagers(p *pass, c *child) bool {
	return slices.ContainsFunc(c.live.GetManagedFields(), func(e metav1.ManagedFieldsEntry) bool {
		if !isFormer(p, c, &e) {
			return false
		}
		moved, _, err := splitFormer(p, c, &e)
		return err != nil || len(moved) > 0
	})
}

// isFormer reports whether an entry is ours from before: of a former manager, or of
// another mode of the child.
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

// splitFormer tells the fields of a former manager that are moved from those that
// stay as they are, in an entry of their own (nil for none): a child may be
// the owner of other children, under the same field manager. Its finalizers,
// unless they are planned, and the inventory of its own children are no part
// of what its owner wants, and must not go for that.
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
		// A former version wrote for all owners under one name: what the others want of the object is not known here.
		rest := moved
		moved = fieldset.TakePlanned(rest, c.content)
		fieldset.UnionFields(stays, rest)
	}
	kept, err = entryOf(e, stays)
	return moved, kept, err
}

// splitContribution moves fields of a former manager that are planned, or that an earlier plan contributed. Fields that the former manager kept
// would stay when the plan drops them, such as a finalizer of the owner. Its other fields may belong to the owner of the object.
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

// entryOf is the entry with other fields, nil with none.
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

// formerMode reports whether an entry is ours from when the plan had the child
// in another mode: under the manager of this owner alone, or under the common
// one of an object that is this owner's.
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
	// What was retained becomes the part of the first owner that shares it. One that has its part already leaves the rest to
	// others, which may still retain it.
	return fieldset.Entry(c.live.GetManagedFields(), c.manager) == nil
}
