package engine

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/reconcilekit/reconcilekit/reconcile/apply"
	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/compare"
	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/managedfields"
	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/memory"
)

// fights counts the repairs of each field of a child whose intent has not
// changed, and leaves those that do not last to the others. It reports whether
// there is nothing else to repair.
func (p *pass) fights(c *planned, set, left *managedfields.Set, live map[string]any) bool {
	m := c.memory
	if !m.Proven || m.Intent != c.hash {
		return false
	}
	var lasting, lost []apply.ContestedField
	for _, f := range p.lost(c, left, live) {
		if m.Repaired(f.Path, p.now) > memory.MaxRepairs {
			lost = append(lost, f)
		} else {
			lasting = append(lasting, f)
		}
	}
	if len(lost) == 0 {
		return false
	}
	p.contest(c, lost)
	m.Contest.Until = p.now.Add(p.engine.opts.ContestInterval) // not a matter of seconds
	for _, f := range lost {
		c.leave(f.Path, set, live)
		delete(m.Repairs, f.Path)
	}
	return len(lasting) == 0
}

// lost names the fields that we planned and do not own, and who has them.
func (p *pass) lost(c *planned, set *managedfields.Set, live map[string]any) []apply.ContestedField {
	entries := c.live.GetManagedFields()
	last := managedfields.LastWriter(entries, c.manager)
	var out []apply.ContestedField
	comparison := compare.Comparison{Schema: c.kind.Schema, Report: func(d compare.Difference) {
		if !d.Unowned {
			out = append(out, apply.ContestedField{Path: d.Path, Manager: c.writerOf(d.Path, last)})
		}
	}}
	comparison.Object(set, c.content, live)
	return out
}

// writerOf is the other manager that owns a field, or the last one that wrote
// if that is not known.
func (c *planned) writerOf(text, last string) string {
	path, ok := managedfields.ServerPath(c.content, text)
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
		set, err := managedfields.Parse(e.FieldsV1.GetRawBytes())
		if err == nil && path.Owns(set) && (writer == nil || managedfields.Later(e, writer)) {
			writer = e
		}
	}
	if writer == nil {
		return last
	}
	return writer.Manager
}
