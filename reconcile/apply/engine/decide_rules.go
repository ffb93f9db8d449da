package engine

import (
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/reconcilekit/reconcilekit/reconcile/apply"
	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/fieldset"
)

// applyRules applies the rules for single fields to the content, for a live object in which the engine owns the set. It returns the part
// of the set that has to be compared.
func (d *decider) applyRules(set *fieldset.Set, live map[string]any) *fieldset.Set {
	left, seeded := set, false
	for i := range d.rules {
		switch rule := &d.rules[i]; rule.Policy {
		case apply.FieldSeed:
			d.yieldField(rule.Path, left, live)
			seeded = true
		case apply.FieldCreateOnly:
			if d.leaveOutSentOnce(rule.Path, set, live) {
				left = rule.Path.Without(left)
			}
		case apply.FieldOwn, apply.FieldForce, apply.FieldIgnore, apply.FieldAbsent:
		}
	}
	if seeded {
		d.marks().Add(d.content) // the marks of a child are never yielded
	}
	return left
}

// yieldField removes existing values at the path that the engine does not own, or no longer owns, from the content.
func (d *decider) yieldField(path fieldset.Path, set *fieldset.Set, live map[string]any) {
	want, planned := path.Lookup(d.content)
	have, exists := path.Lookup(live)
	if !planned || !exists {
		return
	}
	path.Put(d.content, d.yieldedValue(path, path.Below(set), want, have))
}

// yieldedValue returns the rest of a wanted value; nil is nothing.
func (d *decider) yieldedValue(path fieldset.Path, set *fieldset.Set, want, have any) any {
	wantMap, isMap := want.(map[string]any)
	haveMap, liveMap := have.(map[string]any)
	if set != nil && (set.Leaf() || !isMap || !liveMap) {
		return want
	}
	if !isMap || !liveMap {
		if d.abandoned(path) {
			return want
		}
		return nil
	}
	out := make(map[string]any, len(wantMap))
	for name, value := range wantMap {
		below := path.Child(name)
		if current, exists := haveMap[name]; exists {
			var owned *fieldset.Set
			if set != nil {
				owned = set.Field(name)
			}
			value = d.yieldedValue(below, owned, value, current)
		}
		if value != nil {
			out[name] = value
		}
	}
	if len(out) == 0 {
		return nil
	}
	return out
}

// abandoned reports whether an existing field has no owner because the manager that took it has given it up, and the API server set its
// value. It returns false for an object in which the engine owns nothing, because its managedFields may have been wiped.
func (d *decider) abandoned(path fieldset.Path) bool {
	entries := d.live.GetManagedFields()
	if fieldset.Entry(entries, d.manager) == nil {
		return false
	}
	for i := range entries {
		e := &entries[i]
		if e.Subresource == "status" || (e.Manager == d.manager && e.Operation == metav1.ManagedFieldsOperationApply) {
			continue
		}
		if e.FieldsV1 == nil {
			return false // shortened: the entry may own the field
		}
		set, err := fieldset.Parse(e.FieldsV1.GetRawBytes())
		if err != nil || path.Owns(set) {
			return false
		}
	}
	return true
}

// leaveOutSentOnce removes an existing field that is sent once from the content, and reports whether the field is excluded from the
// comparison. An apply without the field can remove it, so restoreSentOnce puts it back before an apply is sent. A part of a value that is
// owned as a whole is compared with that value.
func (d *decider) leaveOutSentOnce(path fieldset.Path, set *fieldset.Set, live map[string]any) bool {
	have, exists := path.Lookup(live)
	if path.PartOf(set) {
		if exists {
			path.Insert(d.content, have)
		}
		return false
	}
	if !exists && (d.fresh || path.Below(set) == nil) {
		return false
	}
	want, _ := path.Lookup(d.content)
	d.sentOnce = append(d.sentOnce, sentOnce{path: path, want: want})
	path.Remove(d.content)
	return true
}

// restoreSentOnce puts the live values of fields that are sent once back into the content, because an apply without them would remove
// them. It returns false if the live object does not show an owned field. The object must then be read live; a field that is missing there
// too, such as an empty list, is gone.
func (d *decider) restoreSentOnce(set *fieldset.Set, live map[string]any) bool {
	for _, field := range d.sentOnce {
		have, exists := field.path.Lookup(live)
		owned := field.path.Below(set)
		if owned == nil {
			if exists && !d.fresh && d.hidesOwners() {
				return false
			}
			if exists && d.partOfWhole(field.path) {
				field.path.Insert(d.content, have)
			}
			continue
		}
		if !exists {
			return false
		}
		value, complete := fieldset.OwnedPart(owned, field.want, have)
		if !complete && !d.fresh {
			return false
		}
		if value != nil {
			field.path.Insert(d.content, value)
		}
	}
	return true
}

// pathsSentOnce returns the paths of the fields that are sent once.
func (d *decider) pathsSentOnce() []fieldset.Path {
	var paths []fieldset.Path
	for i := range d.rules {
		if rule := &d.rules[i]; rule.Policy == apply.FieldCreateOnly {
			paths = append(paths, rule.Path)
		}
	}
	return paths
}

// hidesOwners reports whether the cache omits the fields of managers.
func (d *decider) hidesOwners() bool {
	entries := d.live.GetManagedFields()
	return len(entries) == 0 || slices.ContainsFunc(entries, func(e metav1.ManagedFieldsEntry) bool { return e.FieldsV1 == nil })
}

// partOfWhole reports whether another manager owns a value as a whole that contains the path. An apply of any part replaces the entire
// value.
func (d *decider) partOfWhole(path fieldset.Path) bool {
	entries := d.live.GetManagedFields()
	for i := range entries {
		if e := &entries[i]; e.FieldsV1 != nil && e.Subresource == "" {
			if set, err := fieldset.Parse(e.FieldsV1.GetRawBytes()); err == nil && path.PartOf(set) {
				return true
			}
		}
	}
	return false
}
