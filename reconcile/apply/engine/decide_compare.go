package engine

import (
	"hash/maphash"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/reconcilekit/reconcilekit/reconcile/apply"
	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/content"
	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/fieldset"
	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/intent"
	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/memory"
)

// compare decides whether an existing object has to be patched. It does not if the owned fields and their values are the same as after the
// last apply of this intent, or if they equal the intent.
func (d *decider) compare() {
	var err error
	if d.content, err = d.compileContent(); err != nil {
		d.fail(apply.OutcomeFailed, apply.ReasonInvalid, err)
		return
	}
	if d.observed, err = fieldset.Observe(d.facts.encoder, d.live, d.manager); err != nil {
		d.fail(apply.OutcomeFailed, apply.ReasonReadFailed, err)
		return
	}
	if d.hasFormerManagers() {
		d.prepareWrite(actionMigrate, apply.ReasonFormerManager)
		return
	}
	if (d.lostAll() || d.lostPart()) && !d.heldByOthers() && d.countRepair() <= memory.MaxRepairs {
		d.applyRules(d.recall.Owned.Set(), d.observed.Content)
		d.prepareWrite(actionMigrate, apply.ReasonOwnershipLost)
		return
	}
	d.compareFields()
}

// compareFields compares the owned fields one by one.
func (d *decider) compareFields() {
	set, live := d.observed.Own.Set, d.observed.Content
	if d.observed.Own.Version == "" {
		d.foreign = d.fieldsOfOthers()
	}
	left := d.applyRules(set, live)
	d.leaveContested(set, live)
	d.findUnwanted(live)
	version := d.kind.GVK.GroupVersion().String()
	if d.observed.Own.Version != version && (d.observed.Own.Version != "" || len(d.content) > 0) {
		d.mustApply(left)
		return
	}
	var known uint64
	if d.recall.Proven {
		known = d.recall.Projection
	}
	verdict := d.facts.hasher.Compare(d.subjectOf(d.live, left, live), known)
	switch {
	case !verdict.Known && !verdict.Agrees:
		d.mustApply(left)
	case d.removesFields():
		d.prepareWrite(actionRemove, d.differenceReason())
	default:
		if d.remember.Version = d.live.GetResourceVersion(); !verdict.Known {
			d.remember.Proof = &memory.Proof{
				Intent: d.hash, Version: d.live.GetResourceVersion(), Projection: verdict.Projection,
				Owned: memory.Remembered(d.observed.Own.Entry, d.facts.owner.GetUID()),
			}
		}
		d.endUnchanged()
	}
}

// mustApply plans the patch and decides whether it takes fields from other managers. It takes fields that were changed by update, as by
// kubectl edit, but never from another manager that applies, and never in a contribution.
func (d *decider) mustApply(left *fieldset.Set) {
	set, live := d.observed.Own.Set, d.observed.Content
	if d.recall.Proven && d.countRepairs(set, left, live) {
		d.endUnchanged()
		return
	}
	if !d.restoreSentOnce(set, live) && !d.fresh {
		d.needs = needLiveObject // the cache does not show all owned fields
		return
	}
	d.force = d.planned.Mode != apply.Contribute && !d.hasOtherAppliers()
	d.prepareWrite(actionApply, d.differenceReason())
}

// differenceReason returns why an existing object has to be patched.
func (d *decider) differenceReason() apply.Reason {
	switch d.recall.LastIntent {
	case 0:
		return apply.ReasonDiffers
	case d.hash:
		return apply.ReasonDrift
	default:
		return apply.ReasonPlanChanged
	}
}

// hasOtherAppliers reports whether another manager that applies may own a planned field.
func (d *decider) hasOtherAppliers() bool {
	entries := d.live.GetManagedFields()
	for i := range entries {
		e := &entries[i]
		if e.Operation != metav1.ManagedFieldsOperationApply || e.Subresource != "" || e.Manager == d.manager {
			continue
		}
		if e.FieldsV1 == nil {
			return true // shortened
		}
		set, err := fieldset.Parse(e.FieldsV1.GetRawBytes())
		if err != nil || set.Intersects(d.content) {
			return true
		}
	}
	return false
}

// fieldsOfOthers returns the unplanned fields that other managers wrote to a child before the engine's first apply. Server-side apply
// leaves them until their manager is one of [apply.Options.FormerManagers]. The rest of an object to which the plan contributes belongs to
// another controller.
func (d *decider) fieldsOfOthers() []apply.ContestedField {
	if d.planned.Mode == apply.Contribute {
		return nil
	}
	var out []apply.ContestedField
	for _, e := range d.live.GetManagedFields() {
		if e.Operation != metav1.ManagedFieldsOperationUpdate || e.Subresource != "" || e.FieldsV1 == nil {
			continue
		}
		set, err := fieldset.Parse(e.FieldsV1.GetRawBytes())
		if err != nil {
			continue
		}
		for _, path := range set.Outside(d.content) {
			out = append(out, apply.ContestedField{Path: path, Manager: e.Manager})
		}
	}
	return out
}

// subjectOf returns the compared part of the child: the rest of the owned fields.
func (d *decider) subjectOf(o client.Object, set *fieldset.Set, live map[string]any) fieldset.Subject {
	h, manager := d.facts.hasher, d.manager
	return fieldset.Subject{
		Others: func() uint64 { return othersIn(h, o.GetManagedFields(), manager) },
		Schema: d.kind.Schema, Set: set, Intent: d.content, Live: live, Part: len(d.rules) > 0 || len(d.contested()) > 0,
	}
}

// projectionOf returns the hash of the owned fields in the live object. If the content is only a part of the plan, the hash includes the
// content.
func (d *decider) projectionOf(set *fieldset.Set, live map[string]any) uint64 {
	return d.facts.hasher.ProjectionOf(d.subjectOf(d.live, set, live))
}

// projectionLeft is [decider.projectionOf] without the fields that are sent once, which are removed from the sent content.
func (d *decider) projectionLeft(set *fieldset.Set, live map[string]any) uint64 {
	s := d.subjectOf(d.live, set, live)
	s.Leave(d.pathsSentOnce())
	return d.facts.hasher.ProjectionOf(s)
}

// agrees reports whether an apply of the content would change nothing.
func (d *decider) agrees(set *fieldset.Set, live map[string]any) bool {
	comparison := fieldset.Comparison{Schema: d.kind.Schema}
	comparison.Object(set, d.content, live)
	return !comparison.Different()
}

// compileContent renders the content of the child's apply, without the object's identity.
func (d *decider) compileContent() (map[string]any, error) {
	if d.rules == nil && len(d.planned.Fields) > 0 {
		rules, err := intent.Rules(d.planned.Fields, d.planned.Mode, d.kind.Schema)
		if err != nil {
			return nil, intent.PlanError(err.Error())
		}
		d.rules = rules
	}
	body, err := intent.Body(d.facts.encoder, d.planned, d.kind.GVK.GroupKind(), d.rules, d.marks())
	if err != nil {
		return nil, intent.PlanError(err.Error())
	}
	return body, nil
}

// marks returns the labels, annotations and references that the engine adds to the child.
func (d *decider) marks() intent.Marks {
	f := d.facts
	m := intent.Marks{Shared: d.planned.Mode == apply.Shared || d.planned.Mode == apply.Retained}
	if d.member {
		m.PartOf = f.setID
	}
	m.After = d.after
	switch {
	case f.group == nil:
	case d.member:
		m.Group = f.groupValue()
	case d.planned.Mode == apply.Shared:
		m.Sharing = f.groupValue()
	}
	if d.reach {
		m.Owner = map[string]any{
			"apiVersion":         f.ownerKind.GVK.GroupVersion().String(),
			"kind":               f.ownerKind.GVK.Kind,
			"name":               f.owner.GetName(),
			"uid":                string(f.owner.GetUID()),
			"controller":         true,
			"blockOwnerDeletion": true,
		}
	}
	return m
}

// otherManagers returns the hash of the names and times of the other managers. [apply.ShortenManagedFields] does not change it.
func (d *decider) otherManagers() uint64 {
	return othersIn(d.facts.hasher, d.live.GetManagedFields(), d.manager)
}

func othersIn(h *intent.Hasher, entries []metav1.ManagedFieldsEntry, manager string) uint64 {
	return hashManagers(h, entries, func(e *metav1.ManagedFieldsEntry) bool {
		return e.Manager != manager || e.Operation != metav1.ManagedFieldsOperationApply
	})
}

// contestingManagers returns the hash of the entries of the managers that contest fields.
func (d *decider) contestingManagers(fields []apply.ContestedField) uint64 {
	return hashManagers(d.facts.hasher, d.live.GetManagedFields(), func(e *metav1.ManagedFieldsEntry) bool {
		return slices.ContainsFunc(fields, func(f apply.ContestedField) bool { return f.Manager == e.Manager })
	})
}

// hashManagers returns the hash of the names, operations and times of the selected entries, 0 if there are no entries. Entries of the
// status do not count.
func hashManagers(h *intent.Hasher, entries []metav1.ManagedFieldsEntry, selected func(*metav1.ManagedFieldsEntry) bool) uint64 {
	if len(entries) == 0 {
		return 0
	}
	return h.Sum(func(s *maphash.Hash) {
		for i := range entries {
			e := &entries[i]
			if e.Subresource == "status" || !selected(e) {
				continue
			}
			content.WriteString(s, e.Manager)
			content.WriteString(s, string(e.Operation))
			if e.Time != nil {
				content.WriteUint(s, uint64(e.Time.Unix())) //nolint:gosec // any bijection will do
			}
		}
	})
}
