package decide

import (
	"slices"
	"strings"

	"github.com/reconcilekit/reconcilekit/reconcile/apply"
	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/fieldset"
	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/memory"
	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/pass"
)

// leaveContested takes the fields that others insist on out of the content.
func leaveContested(p *pass.Pass, c *pass.Child, set *fieldset.Set, live map[string]any) {
	if !held(p, c) {
		return
	}
	t := c.Recall.Held
	c.Contested, c.LostAbsent = t.Fields, t.Absent
	for i := range t.Fields {
		Leave(c, t.Fields[i].Path, set, live)
	}
}

// held reports whether fields are left to others, who have not written since.
func held(p *pass.Pass, c *pass.Child) bool {
	t := c.Recall.Held
	return t != nil && t.Managers == contestingManagers(p.Env.Hasher, c, t.Fields)
}

// Leave reports whether the content has the field.
func Leave(c *pass.Child, path string, set *fieldset.Set, live map[string]any) bool {
	left, ok := fieldset.Leave(c.Content, set, live, path)
	if left == nil {
		c.Content = map[string]any{}
	}
	return ok
}

// LeaveToOthers leaves more fields to others from now on.
func LeaveToOthers(p *pass.Pass, c *pass.Child, fields []apply.ContestedField) {
	all := slices.Concat(c.Contested, fields)
	slices.SortFunc(all, func(a, b apply.ContestedField) int {
		return strings.Compare(a.Path+"\x00"+a.Manager, b.Path+"\x00"+b.Manager)
	})
	c.Contested = slices.CompactFunc(all, func(a, b apply.ContestedField) bool { return a.Path == b.Path })
	c.Memory.Contested(memory.Contest{
		Fields: c.Contested, Absent: c.LostAbsent, Intent: c.Hash, UID: c.Live.GetUID(),
		Managers: contestingManagers(p.Env.Hasher, c, c.Contested),
	}, p.Now, p.Env.Options.ContestInterval)
}

// EndUnchanged ends a child for which nothing has to be sent.
func EndUnchanged(p *pass.Pass, c *pass.Child) {
	if ReportContest(p, c) {
		return
	}
	c.Memory.Settled(p.Now)
}

// ReportContest fails a child of which fields are left to others.
func ReportContest(p *pass.Pass, c *pass.Child) bool {
	if len(c.Contested) == 0 {
		return false
	}
	c.Fail(apply.OutcomeContested, apply.ReasonContested, &apply.ContestedError{
		Kind: c.ID.GroupKind.Kind, Namespace: c.ID.Key.Namespace, Name: c.ID.Key.Name, Fields: c.Contested,
	})
	c.Requeue = c.Memory.Contest().Until.Sub(p.Now)
	return true
}
