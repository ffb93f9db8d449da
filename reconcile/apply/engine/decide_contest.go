package engine

import (
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/reconcilekit/reconcilekit/reconcile/apply"
	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/fieldset"
	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/memory"
)

// A field on which another manager insists is left out of the content, and reported. A contest begins when the API server refuses an
// apply because of it, or when it changes again after each of many repairs.

// contested returns the fields that are left to other managers.
func (d *childDecision) contested() []apply.ContestedField {
	if d.contest == nil {
		return nil
	}
	return d.contest.Fields
}

// heldByOthers reports whether fields are left to other managers that have not written since.
func (d *decider) heldByOthers() bool {
	t := d.recall.Held
	return t != nil && t.Managers == d.contestingManagers(t.Fields)
}

// leaveContested removes contested fields from the content.
func (d *decider) leaveContested(set *fieldset.Set, live map[string]any) {
	if !d.heldByOthers() {
		return
	}
	d.contest = d.recall.Held
	for i := range d.contest.Fields {
		d.leaveField(d.contest.Fields[i].Path, set, live)
	}
}

// leaveField removes the field from the content and reports whether the content had it.
func (d *decider) leaveField(path string, set *fieldset.Set, live map[string]any) bool {
	left, ok := fieldset.Leave(d.content, set, live, path)
	if left == nil {
		d.content = map[string]any{}
	}
	return ok
}

// leaveToOthers leaves more fields to other managers. absent are the paths of those that the plan wants absent.
func (d *decider) leaveToOthers(fields []apply.ContestedField, absent ...string) {
	last := d.contest
	if last == nil {
		last = d.recall.Contest
	}
	all := slices.Concat(d.contested(), fields)
	slices.SortFunc(all, func(a, b apply.ContestedField) int {
		return strings.Compare(a.Path+"\x00"+a.Manager, b.Path+"\x00"+b.Manager)
	})
	all = slices.CompactFunc(all, func(a, b apply.ContestedField) bool { return a.Path == b.Path })
	next := memory.Contest{Fields: all, Absent: absent, Intent: d.hash, UID: d.live.GetUID(), Managers: d.contestingManagers(all)}
	if d.contest != nil {
		next.Absent = slices.Concat(d.contest.Absent, absent)
	}
	next = next.After(last, d.facts.now, d.facts.options.ContestInterval)
	d.contest, d.remember.Contest = &next, &next
}

// giveUp leaves fields to other managers that have changed again after each repair. A retry within seconds would not help.
func (d *decider) giveUp(lost []apply.ContestedField, absent ...string) {
	d.leaveToOthers(lost, absent...)
	d.contest.Until = d.facts.now.Add(d.facts.options.ContestInterval)
	for _, f := range lost {
		d.remember.GivenUp = append(d.remember.GivenUp, f.Path)
	}
}

// endUnchanged ends a child that needs no request.
func (d *decider) endUnchanged() {
	d.remember.Settled = !d.reportContest()
}

// reportContest fails a child that has contested fields.
func (d *decider) reportContest() bool {
	if len(d.contested()) == 0 {
		return false
	}
	d.fail(apply.OutcomeContested, apply.ReasonContested, &apply.ContestedError{
		Kind: d.id.GroupKind.Kind, Namespace: d.id.Key.Namespace, Name: d.id.Key.Name, Fields: d.contested(),
	})
	d.requeue = d.contest.Until.Sub(d.facts.now)
	return true
}

// countRepairs counts the repairs of each field, and of the child, for an unchanged intent. It leaves fields that change after each repair
// to their managers. It reports whether nothing else has to be repaired.
func (d *decider) countRepairs(set, left *fieldset.Set, live map[string]any) bool {
	var lasting, lost []apply.ContestedField
	changed, unowned := d.lostFields(left, live)
	fought := d.countRepair() > memory.MaxObjectRepairs
	for _, f := range changed {
		if d.countFieldRepair(f.Path) > memory.MaxRepairs || fought {
			lost = append(lost, f)
		} else {
			lasting = append(lasting, f)
		}
	}
	if fought {
		if len(changed) == 0 {
			lost, unowned = unowned, nil // nothing but what another writer takes from us, with the planned value
		}
	} else {
		unowned = nil
	}
	if len(lost) == 0 {
		return false
	}
	d.giveUp(lost)
	for _, f := range lost {
		d.leaveField(f.Path, set, live)
	}
	return len(lasting)+len(unowned) == 0
}

// countRepair returns the number of recent repairs of the object for this intent, including this pass. A pass counts once, however many
// fields it repairs and however often it decides.
func (d *decider) countRepair() int {
	if d.recall.Proven && d.repairs == 0 {
		d.repairs = d.recall.Repairs.NextOfObject(d.facts.now)
		d.remember.RepairedObject = true
	}
	return d.repairs
}

// countFieldRepair returns the number of recent repairs of a field, including this pass.
func (d *decider) countFieldRepair(path string) int {
	d.remember.Repaired = append(d.remember.Repaired, path)
	return d.recall.Repairs.Next(path, d.facts.now)
}

// lostFields returns the planned fields that the engine does not own, with their managers: changed fields have another value, unowned ones
// the planned value.
func (d *decider) lostFields(set *fieldset.Set, live map[string]any) (changed, unowned []apply.ContestedField) {
	last := fieldset.LastWriter(d.live.GetManagedFields(), d.manager)
	comparison := fieldset.Comparison{Schema: d.kind.Schema, Report: func(diff fieldset.Difference) {
		field := apply.ContestedField{Path: diff.Path, Manager: d.writerOf(diff.Path, last)}
		if diff.Unowned {
			unowned = append(unowned, field)
		} else {
			changed = append(changed, field)
		}
	}}
	comparison.Object(set, d.content, live)
	return changed, unowned
}

// writerOf returns the other manager that owns a field in the notation of the API server, or the last writer if the owner is unknown.
func (d *decider) writerOf(text, last string) string {
	path, ok := fieldset.ServerPath(d.content, text)
	if !ok {
		return last
	}
	if writer := d.lastOwner(path); writer != "" {
		return writer
	}
	if d.observed.Own.Entry != nil && path.Owns(d.observed.Own.Set) {
		return d.manager + " in another process"
	}
	return last
}

// lastOwner returns the other manager that owns a field and wrote last, empty for none.
func (d *decider) lastOwner(path fieldset.Path) string {
	var last *metav1.ManagedFieldsEntry
	entries := d.live.GetManagedFields()
	for i := range entries {
		e := &entries[i]
		if e.FieldsV1 == nil || (e.Manager == d.manager && e.Operation == metav1.ManagedFieldsOperationApply) {
			continue
		}
		set, err := fieldset.Parse(e.FieldsV1.GetRawBytes())
		if err == nil && path.Owns(set) && (last == nil || fieldset.Later(e, last)) {
			last = e
		}
	}
	if last == nil {
		return ""
	}
	return last.Manager
}

// findUnwanted finds the existing fields that the plan wants absent, except those that are left to other managers.
func (d *decider) findUnwanted(live map[string]any) {
	d.unwanted = nil
	var paths []fieldset.Path
	for i := range d.rules {
		if rule := &d.rules[i]; rule.Policy == apply.FieldAbsent {
			paths = append(paths, rule.Path)
		}
	}
	if len(paths) == 0 {
		return
	}
	found := fieldset.Places(live, paths...)
	d.endContests(found)
	d.unwanted = slices.DeleteFunc(found, func(f fieldset.Place) bool {
		return slices.ContainsFunc(d.contested(), func(t apply.ContestedField) bool { return t.Path == f.Text })
	})
}

// endContests ends the contest about fields that are now absent.
func (d *decider) endContests(found []fieldset.Place) {
	if d.contest == nil {
		return
	}
	rest := slices.DeleteFunc(slices.Clone(d.contest.Fields), func(t apply.ContestedField) bool {
		return slices.Contains(d.contest.Absent, t.Path) &&
			!slices.ContainsFunc(found, func(f fieldset.Place) bool { return f.Text == t.Path })
	})
	if len(rest) == len(d.contest.Fields) {
		return
	}
	next := *d.contest
	next.Fields = rest
	d.contest, d.remember.Contest = &next, &next
}

// removesFields reports whether fields are to be removed. Fields that return each time are left alone.
func (d *decider) removesFields() bool {
	var lost []apply.ContestedField
	var absent []string
	d.unwanted = slices.DeleteFunc(d.unwanted, func(f fieldset.Place) bool {
		if d.countFieldRepair(f.Text) <= memory.MaxRepairs {
			return false
		}
		setter := d.lastOwner(f.Path)
		if setter == "" {
			setter = fieldset.LastWriter(d.live.GetManagedFields(), d.manager)
		}
		lost, absent = append(lost, apply.ContestedField{Path: f.Text, Manager: setter}), append(absent, f.Text)
		return true
	})
	if len(lost) > 0 {
		d.giveUp(lost, absent...)
	}
	return len(d.unwanted) > 0
}
