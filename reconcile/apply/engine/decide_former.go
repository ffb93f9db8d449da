package engine

import (
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/reconcilekit/reconcilekit/reconcile/apply"
	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/applyset"
	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/fieldset"
	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/memory"
)

// lostEntry reports whether managedFields have no entry of the engine although it has applied to this object. It is false if other
// managers have taken all fields of the entry.
func (d *decider) lostEntry(entries []metav1.ManagedFieldsEntry) bool {
	if d.recall.Owned == (memory.OwnedFields{}) || fieldset.Entry(entries, d.manager) != nil {
		return false
	}
	lost, err := d.recall.Owned.Without(entries)
	return err == nil && len(lost) > 0
}

// lostAll reports whether the engine's entry is missing while some of its fields still exist.
func (d *decider) lostAll() bool {
	return d.observed.Own.Entry == nil && d.lostEntry(d.live.GetManagedFields()) && d.recall.Owned.Set().Intersects(d.observed.Content)
}

// lostPart reports whether the engine's entry lost fields that still exist without an owner and that no apply would own again, because
// they left the plan or are sent once.
func (d *decider) lostPart() bool {
	own, once, before := d.observed.Own, d.pathsSentOnce(), d.recall.Owned
	if own.Entry == nil || own.Version != d.kind.GVK.GroupVersion().String() || before == (memory.OwnedFields{}) ||
		(d.recall.LastIntent == d.hash && len(once) == 0) || d.hidesOwners() || before == memory.Remembered(own.Entry, d.facts.owner.GetUID()) {
		return false
	}
	lost, err := d.recall.Owned.Without(d.live.GetManagedFields())
	if err != nil || len(lost) == 0 {
		return false
	}
	sent := runtime.DeepCopyJSON(d.content)
	for _, path := range once {
		path.Remove(sent)
	}
	fieldset.TakePlanned(lost, sent)
	raw, err := fieldset.EncodeFields(lost)
	if err != nil || len(lost) == 0 {
		return false
	}
	set, err := fieldset.Parse(raw.GetRawBytes())
	return err == nil && set.Intersects(d.observed.Content)
}

// hasFormerManagers reports whether fields are owned under a former name: a former manager, or the engine's own field manager by update.
func (d *decider) hasFormerManagers() bool {
	return slices.ContainsFunc(d.live.GetManagedFields(), func(e metav1.ManagedFieldsEntry) bool {
		if !d.isFormer(&e) {
			return false
		}
		moved, _, err := d.splitFormer(&e)
		return err != nil || len(moved) > 0
	})
}

// isFormer reports whether the entry was written by a former manager or in another mode of the child.
func (d *decider) isFormer(e *metav1.ManagedFieldsEntry) bool {
	former := e.Subresource == "" && slices.Contains(d.facts.options.FormerManagers, e.Manager)
	switch {
	case e.Subresource != "":
		return false
	case d.planned.Mode == apply.Contribute: // see splitContribution
		return former
	case e.Manager == d.manager:
		return e.Operation == metav1.ManagedFieldsOperationUpdate
	}
	return former || d.formerMode(e)
}

// splitFormer splits the fields of a former manager into those that are moved and those that stay in an entry of their own (nil for none).
// A child may itself own children under the same field manager. Its unplanned finalizers and the inventory of its own children do not
// belong to its owner's plan and must stay.
func (d *decider) splitFormer(e *metav1.ManagedFieldsEntry) (moved map[string]any, kept *metav1.ManagedFieldsEntry, err error) {
	moved, err = fieldset.RawFields(e)
	if err != nil {
		return nil, nil, err
	}
	if d.planned.Mode == apply.Contribute {
		return d.splitContribution(e, moved)
	}
	metadata, _ := moved["f:metadata"].(map[string]any)
	stays := map[string]any{}
	if planned, _ := d.content["metadata"].(map[string]any); planned["finalizers"] == nil {
		fieldset.MoveField(metadata, stays, "f:finalizers")
	}
	for below, names := range d.facts.inventoryNames() {
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
	if d.planned.Mode == apply.Shared && !d.formerMode(e) && e.Manager != d.manager {
		// A former version wrote for all owners under one name: the parts of the other owners are unknown here.
		rest := moved
		moved = fieldset.TakePlanned(rest, d.content)
		fieldset.UnionFields(stays, rest)
	}
	kept, err = entryOf(e, stays)
	return moved, kept, err
}

// splitContribution moves the fields of a former manager that are planned, or that an earlier plan contributed. If the former manager kept
// a field, such as a finalizer of the owner, the field would stay after it leaves the plan. The other fields may belong to the owner of
// the object.
func (d *decider) splitContribution(e *metav1.ManagedFieldsEntry, stays map[string]any) (moved map[string]any, kept *metav1.ManagedFieldsEntry, err error) {
	moved = fieldset.TakePlanned(stays, d.content)
	if own := d.observed.Own.Entry; own != nil {
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
func (d *decider) formerMode(e *metav1.ManagedFieldsEntry) bool {
	applies := e.Operation == metav1.ManagedFieldsOperationApply
	if d.planned.Mode != apply.Shared {
		return applies && e.Manager == d.facts.contributor
	}
	if e.Manager != d.facts.options.FieldManager || (!applies && !fieldset.OwnsMetadata(e, "labels", applyset.PartOfLabel)) {
		return false
	}
	if controller := metav1.GetControllerOfNoCopy(d.live); controller != nil {
		return controller.UID == d.facts.owner.GetUID()
	}
	if isLabelled(d.live) {
		return d.facts.inSet(d.live)
	}
	// A retained object becomes the part of the first owner that shares it. An owner that already has a part leaves the rest to other
	// owners, which may still retain it.
	return fieldset.Entry(d.live.GetManagedFields(), d.manager) == nil
}
