package engine

import (
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/reconcilekit/reconcilekit/reconcile/apply"
	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/fieldset"
	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/memory"
)

// noteUnwanted finds the existing fields that the plan wants absent, except those that are left to other managers.
func noteUnwanted(c *child, live map[string]any) {
	c.unwanted = nil
	var paths []fieldset.Path
	for i := range c.rules {
		if rule := &c.rules[i]; rule.Policy == apply.FieldAbsent {
			paths = append(paths, rule.Path)
		}
	}
	if len(paths) == 0 {
		return
	}
	found := fieldset.Places(live, paths...)
	endContests(c, found)
	c.unwanted = slices.DeleteFunc(found, func(f fieldset.Place) bool {
		return slices.ContainsFunc(c.contested, func(t apply.ContestedField) bool { return t.Path == f.Text })
	})
}

// endContests ends the contest about fields that are now absent.
func endContests(c *child, found []fieldset.Place) {
	rest := slices.DeleteFunc(slices.Clone(c.contested), func(t apply.ContestedField) bool {
		return slices.Contains(c.lostAbsent, t.Path) && !slices.ContainsFunc(found, func(f fieldset.Place) bool { return f.Text == t.Path })
	})
	if len(rest) == len(c.contested) || !c.memory.StillContested(rest) {
		return
	}
	c.contested = rest
}

// removesFields reports whether fields are to be removed. Fields that return each time are left alone.
func removesFields(p *pass, c *child) bool {
	m := c.memory
	var lost []apply.ContestedField
	c.unwanted = slices.DeleteFunc(c.unwanted, func(f fieldset.Place) bool {
		if m.Repaired(f.Text, p.now) <= memory.MaxRepairs {
			return false
		}
		lost = append(lost, apply.ContestedField{Path: f.Text, Manager: setterOf(c, f.Path)})
		return true
	})
	if len(lost) > 0 {
		for _, f := range lost {
			c.lostAbsent = append(slices.Clone(c.lostAbsent), f.Path)
		}
		leaveToOthers(p, c, lost)
		m.ContestedUntil(p.now.Add(p.env.options.ContestInterval)) // a retry within seconds would not help
		for _, f := range lost {
			m.ForgetRepairs(f.Path)
		}
	}
	return len(c.unwanted) > 0
}

// setterOf returns the other manager that owns a field, or the last writer if the owner is unknown.
func setterOf(c *child, path fieldset.Path) string {
	var setter *metav1.ManagedFieldsEntry
	entries := c.live.GetManagedFields()
	for i := range entries {
		e := &entries[i]
		if e.FieldsV1 == nil || (e.Manager == c.manager && e.Operation == metav1.ManagedFieldsOperationApply) {
			continue
		}
		set, err := fieldset.Parse(e.FieldsV1.GetRawBytes())
		if err == nil && path.Owns(set) && (setter == nil || fieldset.Later(e, setter)) {
			setter = e
		}
	}
	if setter == nil {
		return fieldset.LastWriter(entries, c.manager)
	}
	return setter.Manager
}

// longestPause is the maximum pause before a child that others delete is recreated. Users and test suites delete a child several times
// within a minute to see it recreated.
const longestPause = 30 * time.Second

// deletedByOthers counts the deletion of an existing child by others. It reports whether the child is left alone for now.
func deletedByOthers(p *pass, c *child) bool {
	times, rest := c.memory.Gone(p.now, min(longestPause, p.env.options.ContestInterval))
	if times == 0 {
		return false
	}
	c.fail(apply.OutcomeContested, apply.ReasonContested, &apply.DeletedByOthersError{
		Kind: c.id.GroupKind.Kind, Namespace: c.id.Key.Namespace, Name: c.id.Key.Name, Times: times,
	})
	c.requeue = rest
	return true
}
