package engine

import (
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/reconcilekit/reconcilekit/reconcile/apply"
	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/fieldset"
)

// applyRules makes of the content what the rules for single fields say about this
// live object, in which our manager owns the set. It returns the part of the
// set that is left to be compared.
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
		marksOf(p, c).Add(c.content) // what makes the object a child is yielded to nobody
	}
	return left
}

// yieldField leaves out of the content what the object has at the path and what is
// not ours, or not any more.
func yieldField(c *child, path fieldset.Path, set *fieldset.Set, live map[string]any) {
	want, planned := path.Lookup(c.content)
	have, exists := path.Lookup(live)
	if !planned || !exists {
		return
	}
	path.Put(c.content, yieldedValue(c, path, path.Below(set), want, have))
}

// yieldedValue is what of a wanted value remains; nil is nothing.
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

// abandoned reports whether a field that exists is nobody's: the manager that
// took it from us has given it up, and the value is what the server made of
// that. It cannot be known of an object on which we own nothing, as its
// managedFields may have been wiped.
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
			return false // shortened: it may be this one's
		}
		set, err := fieldset.Parse(e.FieldsV1.GetRawBytes())
		if err != nil || path.Owns(set) {
			return false
		}
	}
	return true
}

// leaveOutSentOnce takes a field that is sent once out of the content, and reports
// whether it is not compared: if the object has it. An apply without it can
// remove it, so that [restoreSentOnce] has to put it back before one is sent. A
// part of a value that is ours as a whole is compared with it.
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

// restoreSentOnce puts back into the content, as it is on the server, what an apply
// would otherwise remove of the fields that are sent once. It reports false if
// the live object does not show something that we own: a live look has to, before
// an apply is sent, and what that does not show either, such as an empty list, is
// gone.
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

// hidesOwners reports whether the cache keeps back what managers own.
func hidesOwners(c *child) bool {
	entries := c.live.GetManagedFields()
	return len(entries) == 0 || slices.ContainsFunc(entries, func(e metav1.ManagedFieldsEntry) bool { return e.FieldsV1 == nil })
}

// partOfWhole reports whether another manager owns a value that the path is a part
// of. Whoever applies any of that value replaces all of it.
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
