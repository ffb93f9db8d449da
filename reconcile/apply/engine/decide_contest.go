package engine

import (
	"slices"
	"strings"

	"github.com/reconcilekit/reconcilekit/reconcile/apply"
	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/fieldset"
	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/memory"
)

// leaveContested removes contested fields from the content.
func leaveContested(p *pass, c *child, set *fieldset.Set, live map[string]any) {
	if !heldByOthers(p, c) {
		return
	}
	t := c.recall.Held
	c.contested, c.lostAbsent = t.Fields, t.Absent
	for i := range t.Fields {
		leaveField(c, t.Fields[i].Path, set, live)
	}
}

// heldByOthers reports whether fields are left to other managers that have not written since.
func heldByOthers(p *pass, c *child) bool {
	t := c.recall.Held
	return t != nil && t.Managers == contestingManagers(p.env.hasher, c, t.Fields)
}

// leaveField removes the field from the content and reports whether the content had it.
func leaveField(c *child, path string, set *fieldset.Set, live map[string]any) bool {
	left, ok := fieldset.Leave(c.content, set, live, path)
	if left == nil {
		c.content = map[string]any{}
	}
	return ok
}

// leaveToOthers leaves more fields to other managers.
func leaveToOthers(p *pass, c *child, fields []apply.ContestedField) {
	all := slices.Concat(c.contested, fields)
	slices.SortFunc(all, func(a, b apply.ContestedField) int {
		return strings.Compare(a.Path+"\x00"+a.Manager, b.Path+"\x00"+b.Manager)
	})
	c.contested = slices.CompactFunc(all, func(a, b apply.ContestedField) bool { return a.Path == b.Path })
	c.memory.Contested(memory.Contest{
		Fields: c.contested, Absent: c.lostAbsent, Intent: c.hash, UID: c.live.GetUID(),
		Managers: contestingManagers(p.env.hasher, c, c.contested),
	}, p.now, p.env.options.ContestInterval)
}

// endUnchanged ends a child that needs no request.
func endUnchanged(p *pass, c *child) {
	if reportContest(p, c) {
		return
	}
	c.memory.Settled(p.now)
}

// reportContest fails a child that has contested fields.
func reportContest(p *pass, c *child) bool {
	if len(c.contested) == 0 {
		return false
	}
	c.fail(apply.OutcomeContested, apply.ReasonContested, &apply.ContestedError{
		Kind: c.id.GroupKind.Kind, Namespace: c.id.Key.Namespace, Name: c.id.Key.Name, Fields: c.contested,
	})
	c.requeue = c.memory.Contest().Until.Sub(p.now)
	return true
}
