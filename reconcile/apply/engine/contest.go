package engine

import (
	"hash/maphash"
	"slices"
	"strings"

	"github.com/reconcilekit/reconcilekit/reconcile/apply"
	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/content"
	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/intent"
	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/managedfields"
	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/memory"
)

// leaveContested takes the fields that others insist on out of the content.
func (p *pass) leaveContested(c *planned, set *managedfields.Set, live map[string]any) {
	t := c.memory.Contest
	if !t.Stands(c.hash, c.live.GetUID(), p.now) || t.Managers != managers(p.engine.hasher, c, t.Fields) {
		return
	}
	c.contested, c.lostAbsent = t.Fields, t.Absent
	for i := range t.Fields {
		c.leave(t.Fields[i].Path, set, live)
	}
}

// leave reports whether the content has the field.
func (c *planned) leave(path string, set *managedfields.Set, live map[string]any) bool {
	left, ok := managedfields.Leave(c.content, set, live, path)
	if left == nil {
		c.content = map[string]any{}
	}
	return ok
}

// contest leaves more fields to others from now on.
func (p *pass) contest(c *planned, fields []apply.ContestedField) {
	all := slices.Concat(c.contested, fields)
	slices.SortFunc(all, func(a, b apply.ContestedField) int {
		return strings.Compare(a.Path+"\x00"+a.Manager, b.Path+"\x00"+b.Manager)
	})
	c.contested = slices.CompactFunc(all, func(a, b apply.ContestedField) bool { return a.Path == b.Path })
	t := &memory.Contest{Fields: c.contested, Absent: c.lostAbsent, Intent: c.hash, UID: c.live.GetUID(), Managers: managers(p.engine.hasher, c, c.contested)}
	if last := c.memory.Contest; last != nil && last.Intent == c.hash {
		t.Count = last.Count + 1
	}
	t.Until = p.now.Add(memory.Backoff(t.Count, p.engine.opts.ContestInterval))
	c.memory.Contest = t
}

// stand ends a child for which nothing has to be sent.
func (p *pass) stand(c *planned) {
	if p.reportContest(c) {
		return
	}
	c.memory.Contest = nil
	c.memory.Succeeded(p.now)
}

// reportContest fails a child of which fields are left to others.
func (p *pass) reportContest(c *planned) bool {
	if len(c.contested) == 0 {
		return false
	}
	c.fail(apply.Contested, apply.ReasonContested, &apply.ContestedError{
		Kind: c.id.GroupKind.Kind, Namespace: c.id.Key.Namespace, Name: c.id.Key.Name, Fields: c.contested,
	})
	c.requeue = c.memory.Contest.Until.Sub(p.now)
	return true
}

// managers is the hash of the entries of the managers that contest fields.
func managers(h *intent.Hasher, c *planned, fields []apply.ContestedField) uint64 {
	return h.Sum(func(s *maphash.Hash) {
		for _, e := range c.live.GetManagedFields() {
			if e.Subresource == "status" || !slices.ContainsFunc(fields, func(f apply.ContestedField) bool { return f.Manager == e.Manager }) {
				continue
			}
			content.WriteString(s, e.Manager)
			content.WriteString(s, string(e.Operation))
			if e.Time != nil {
				content.WriteUint(s, uint64(e.Time.Unix())) //nolint:gosec // any bijection will do
			}
		}
	})
}
