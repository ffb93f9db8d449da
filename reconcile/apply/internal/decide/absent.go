package decide

import (
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/reconcilekit/reconcilekit/reconcile/apply"
	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/fieldset"
	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/memory"
	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/pass"
)

// NoteUnwanted finds the fields of an object that the plan wants absent, save
// those that are left to others.
func NoteUnwanted(c *pass.Child, live map[string]any) {
	c.Unwanted = nil
	var paths []fieldset.Path
	for i := range c.Rules {
		if rule := &c.Rules[i]; rule.Policy == apply.FieldAbsent {
			paths = append(paths, rule.Path)
		}
	}
	if len(paths) == 0 {
		return
	}
	found := fieldset.Places(live, paths...)
	endContests(c, found)
	c.Unwanted = slices.DeleteFunc(found, func(f fieldset.Place) bool {
		return slices.ContainsFunc(c.Contested, func(t apply.ContestedField) bool { return t.Path == f.Text })
	})
}

// endContests ends the contest about fields that are absent now.
func endContests(c *pass.Child, found []fieldset.Place) {
	rest := slices.DeleteFunc(slices.Clone(c.Contested), func(t apply.ContestedField) bool {
		return slices.Contains(c.LostAbsent, t.Path) && !slices.ContainsFunc(found, func(f fieldset.Place) bool { return f.Text == t.Path })
	})
	if len(rest) == len(c.Contested) || !c.Memory.StillContested(rest) {
		return
	}
	c.Contested = rest
}

// Removes reports whether fields are to be removed. Those that come back each
// time are left to whoever sets them.
func Removes(p *pass.Pass, c *pass.Child) bool {
	m := c.Memory
	var lost []apply.ContestedField
	c.Unwanted = slices.DeleteFunc(c.Unwanted, func(f fieldset.Place) bool {
		if m.Repaired(f.Text, p.Now) <= memory.MaxRepairs {
			return false
		}
		lost = append(lost, apply.ContestedField{Path: f.Text, Manager: setterOf(c, f.Path)})
		return true
	})
	if len(lost) > 0 {
		for _, f := range lost {
			c.LostAbsent = append(slices.Clone(c.LostAbsent), f.Path)
		}
		LeaveToOthers(p, c, lost)
		m.ContestedUntil(p.Now.Add(p.Env.Options.ContestInterval)) // not a matter of seconds
		for _, f := range lost {
			m.ForgetRepairs(f.Path)
		}
	}
	return len(c.Unwanted) > 0
}

// setterOf is the other manager that owns a field, or the last one that wrote
// if that is not known.
func setterOf(c *pass.Child, path fieldset.Path) string {
	var setter *metav1.ManagedFieldsEntry
	entries := c.Live.GetManagedFields()
	for i := range entries {
		e := &entries[i]
		if e.FieldsV1 == nil || (e.Manager == c.Manager && e.Operation == metav1.ManagedFieldsOperationApply) {
			continue
		}
		set, err := fieldset.Parse(e.FieldsV1.GetRawBytes())
		if err == nil && path.Owns(set) && (setter == nil || fieldset.Later(e, setter)) {
			setter = e
		}
	}
	if setter == nil {
		return fieldset.LastWriter(entries, c.Manager)
	}
	return setter.Manager
}
