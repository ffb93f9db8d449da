package decide

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/reconcilekit/reconcilekit/reconcile/apply"
	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/fieldset"
	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/memory"
	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/pass"
)

// fightsBack counts the repairs of each field of a child whose intent has not
// changed, and of the child, and leaves what does not last to the others. It
// reports whether there is nothing else to repair.
func fightsBack(p *pass.Pass, c *pass.Child, set, left *fieldset.Set, live map[string]any) bool {
	m := c.Memory
	var lasting, lost []apply.ContestedField
	changed, unowned := lostFields(c, left, live)
	fought := repairs(p, c) > memory.MaxObjectRepairs
	for _, f := range changed {
		if m.Repaired(f.Path, p.Now) > memory.MaxRepairs || fought {
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
	LeaveToOthers(p, c, lost)
	m.ContestedUntil(p.Now.Add(p.Env.Options.ContestInterval)) // not a matter of seconds
	for _, f := range lost {
		Leave(c, f.Path, set, live)
		m.ForgetRepairs(f.Path)
	}
	return len(lasting)+len(unowned) == 0
}

// repairs is how often the object was repaired lately for this intent, with this
// pass. A pass counts once, whatever it has to repair and however often it decides.
func repairs(p *pass.Pass, c *pass.Child) int {
	if c.Recall.Proven && c.Repairs == 0 {
		c.Repairs = c.Memory.RepairedAny(p.Now)
	}
	return c.Repairs
}

// lostFields names the fields that we planned and do not own, and who has them:
// those with another value, and those with the planned one.
func lostFields(c *pass.Child, set *fieldset.Set, live map[string]any) (changed, unowned []apply.ContestedField) {
	entries := c.Live.GetManagedFields()
	last := fieldset.LastWriter(entries, c.Manager)
	comparison := fieldset.Comparison{Schema: c.Kind.Schema, Report: func(d fieldset.Difference) {
		field := apply.ContestedField{Path: d.Path, Manager: writerOf(c, d.Path, last)}
		if d.Unowned {
			unowned = append(unowned, field)
		} else {
			changed = append(changed, field)
		}
	}}
	comparison.Object(set, c.Content, live)
	return changed, unowned
}

// writerOf is the other manager that owns a field, or the last one that wrote
// if that is not known.
func writerOf(c *pass.Child, text, last string) string {
	path, ok := fieldset.ServerPath(c.Content, text)
	if !ok {
		return last
	}
	var writer *metav1.ManagedFieldsEntry
	entries := c.Live.GetManagedFields()
	for i := range entries {
		e := &entries[i]
		if (e.Manager == c.Manager && e.Operation == metav1.ManagedFieldsOperationApply) || e.FieldsV1 == nil {
			continue
		}
		set, err := fieldset.Parse(e.FieldsV1.GetRawBytes())
		if err == nil && path.Owns(set) && (writer == nil || fieldset.Later(e, writer)) {
			writer = e
		}
	}
	switch {
	case writer != nil:
		return writer.Manager
	case c.Observed.Own.Entry != nil && path.Owns(c.Observed.Own.Set):
		return c.Manager + " in another process"
	}
	return last
}
