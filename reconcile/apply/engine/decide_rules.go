package engine

import (
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/reconcilekit/reconcilekit/reconcile/apply"
	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/fieldset"
)

// applyRules applies the rules for single fields to the content, for a live object in which the engine owns the set. It returns the part
// of the set that has to be compared.
func applyRules(p *pass, c *child, set *fieldset.Set, live map[string]any) *fieldset.Set {
	left, seeded := set, false
	for i := range c.rules {
		switch rule := &c.rules[i]; rule.Policy {
		case apply.FieldSeed:
			yieldField(c, rule.Path, left, live)
			seeded = true
		case apply.FieldCreateOnly:
			if leaveOutSentOnce(c, rule.Path, set, live) {
				left = rule.Path.Without(left)
			}
		case apply.FieldOwn, apply.FieldForce, apply.FieldIgnore, apply.FieldAbsent:
		}
	}
	if seeded {
		marksOf(p, c).Add(c.content) // the marks of a child are never yielded
	}
	return left
}

// yieldField removes existing values at the path that the engine does not own, or no longer owns, from the content.
func yieldField(c *child, path fieldset.Path, set *fieldset.Set, live map[string]any) {
	want, planned := path.Lookup(c.content)
	have, exists := path.Lookup(live)
	if !planned || !exists {
		return
	}
	path.Put(c.content, yieldedValue(c, path, path.Below(set), want, have))
}

// yieldedValue returns the rest of a wanted value; nil is nothing.
func yieldedValue(c *child, path fieldset.Path, set *fieldset.Set, want, have any) any {
	wantMap, isMap := want.(map[string]any)
	haveMap, liveMap := have.(map[string]any)
	if set != nil && (set.Leaf() || !isMap || !liveMap) {
		return want
	}
	if !isMap || !liveMap {
		if abandoned(c, path) {
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
			value = yieldedValue(c, below, owned, value, current)
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
func abandoned(c *child, path fieldset.Path) bool {
	entries := c.live.GetManagedFields()
	if fieldset.Entry(entries, c.manager) == nil {
		return false
	}
	for i := range entries {
		e := &entries[i]
		if e.Subresource == "status" || (e.Manager == c.manager && e.Operation == metav1.ManagedFieldsOperationApply) {
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
// comparison. An apply without the field can remove it, so [restoreSentOnce] puts it back before an apply is sent. A part of a value that
// is owned as a whole is compared with that value.
func leaveOutSentOnce(c *child, path fieldset.Path, set *fieldset.Set, live map[string]any) bool {
	have, exists := path.Lookup(live)
	if path.PartOf(set) {
		if exists {
			path.Insert(c.content, have)
		}
		return false
	}
	if !exists && (c.fresh || path.Below(set) == nil) {
		return false
	}
	want, _ := path.Lookup(c.content)
	c.sentOnce = append(c.sentOnce, sentOnce{path: path, want: want})
	path.Remove(c.content)
	return true
}

// restoreSentOnce puts the live values of fields that are sent once back into the content, because an apply without them would remove
// them. It returns false if the live object does not show an owned field. The object must then be read live; a field that is missing there
// too, such as an empty list, is gone.
func restoreSentOnce(c *child, set *fieldset.Set, live map[string]any) bool {
	for _, field := range c.sentOnce {
		have, exists := field.path.Lookup(live)
		owned := field.path.Below(set)
		if owned == nil {
			if exists && !c.fresh && hidesOwners(c) {
				return false
			}
			if exists && partOfWhole(c, field.path) {
				field.path.Insert(c.content, have)
			}
			continue
		}
		if !exists {
			return false
		}
		value, complete := fieldset.OwnedPart(owned, field.want, have)
		if !complete && !c.fresh {
			return false
		}
		if value != nil {
			field.path.Insert(c.content, value)
		}
	}
	return true
}

// hidesOwners reports whether the cache omits the fields of managers.
func hidesOwners(c *child) bool {
	entries := c.live.GetManagedFields()
	return len(entries) == 0 || slices.ContainsFunc(entries, func(e metav1.ManagedFieldsEntry) bool { return e.FieldsV1 == nil })
}

// partOfWhole reports whether another manager owns a value as a whole that contains the path. An apply of any part replaces the entire
// value.
func partOfWhole(c *child, path fieldset.Path) bool {
	entries := c.live.GetManagedFields()
	for i := range entries {
		if e := &entries[i]; e.FieldsV1 != nil && e.Subresource == "" {
			if set, err := fieldset.Parse(e.FieldsV1.GetRawBytes()); err == nil && path.PartOf(set) {
				return true
			}
		}
	}
	return false
}
