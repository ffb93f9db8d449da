package engine

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/reconcilekit/reconcilekit/reconcile/apply"
	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/fieldset"
	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/memory"
)

// countRepairs counts the repairs of each field, and of the child, for an unchanged intent. It leaves fields that change after each repair
// to their managers. It reports whether nothing else has to be repaired.
func countRepairs(p *pass, c *child, set, left *fieldset.Set, live map[string]any) bool {
	m := c.memory
	var lasting, lost []apply.ContestedField
	changed, unowned := lostFields(c, left, live)
	fought := repairs(p, c) > memory.MaxObjectRepairs
	for _, f := range changed {
		if m.Repaired(f.Path, p.now) > memory.MaxRepairs || fought {
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
	leaveToOthers(p, c, lost)
	m.ContestedUntil(p.now.Add(p.env.options.ContestInterval)) // a retry within seconds would not help
	for _, f := range lost {
		leaveField(c, f.Path, set, live)
		m.ForgetRepairs(f.Path)
	}
	return len(lasting)+len(unowned) == 0
}

// repairs returns the number of recent repairs of the object for this intent, including this pass. A pass counts once, however many fields
// it repairs and however often it decides.
func repairs(p *pass, c *child) int {
	if c.recall.Proven && c.repairs == 0 {
		c.repairs = c.memory.RepairedAny(p.now)
	}
	return c.repairs
}

// lostFields returns the planned fields that the engine does not own, with their managers: changed fields have another value, unowned ones
// the planned value.
func lostFields(c *child, set *fieldset.Set, live map[string]any) (changed, unowned []apply.ContestedField) {
	entries := c.live.GetManagedFields()
	last := fieldset.LastWriter(entries, c.manager)
	comparison := fieldset.Comparison{Schema: c.kind.Schema, Report: func(d fieldset.Difference) {
		field := apply.ContestedField{Path: d.Path, Manager: writerOf(c, d.Path, last)}
		if d.Unowned {
			unowned = append(unowned, field)
		} else {
			changed = append(changed, field)
		}
	}}
	comparison.Object(set, c.content, live)
	return changed, unowned
}

// writerOf returns the other manager that owns a field, or the last writer if the owner is unknown.
func writerOf(c *child, text, last string) string {
	path, ok := fieldset.ServerPath(c.content, text)
	if !ok {
		return last
	}
	var writer *metav1.ManagedFieldsEntry
	entries := c.live.GetManagedFields()
	for i := range entries {
		e := &entries[i]
		if (e.Manager == c.manager && e.Operation == metav1.ManagedFieldsOperationApply) || e.FieldsV1 == nil {
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
	case c.observed.Own.Entry != nil && path.Owns(c.observed.Own.Set):
		return c.manager + " in another process"
	}
	return last
}
