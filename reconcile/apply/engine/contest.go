package engine

import (
	"hash/maphash"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/reconcilekit/reconcilekit/reconcile/apply"
	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/content"
	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/managedfields"
)

// contest is what others insist on in a child. These fields are left to them
// until the plan or their entries in the managedFields change, or for a time;
// the rest of the child is applied.
type contest struct {
	fields []apply.ContestedField
	// absent are the paths of those that the plan wants absent.
	absent []string
	// intent, uid and managers identify the situation.
	intent   uint64
	uid      types.UID
	managers uint64
	// count is how often in a row, until how long.
	count int
	until time.Time
}

// stands reports whether nothing has changed that could help.
func (t *contest) stands(intent uint64, uid types.UID, now time.Time) bool {
	return t != nil && t.intent == intent && t.uid == uid && now.Before(t.until)
}

// leaveContested takes the fields that others insist on out of the content.
func (p *pass) leaveContested(c *planned, set *managedfields.Set, live map[string]any) {
	t := c.memory.contest
	if !t.stands(c.hash, c.live.GetUID(), p.now) || t.managers != p.engine.hasher.managers(c, t.fields) {
		return
	}
	c.contested, c.lostAbsent = t.fields, t.absent
	for i := range t.fields {
		c.leave(t.fields[i].Path, set, live)
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
	t := &contest{fields: c.contested, absent: c.lostAbsent, intent: c.hash, uid: c.live.GetUID(), managers: p.engine.hasher.managers(c, c.contested)}
	if last := c.memory.contest; last != nil && last.intent == c.hash {
		t.count = last.count + 1
	}
	t.until = p.now.Add(backoff(t.count, p.engine.opts.ContestInterval))
	c.memory.contest = t
}

// stand ends a child for which nothing has to be sent.
func (p *pass) stand(c *planned) {
	if p.reportContest(c) {
		return
	}
	c.memory.contest = nil
	c.memory.settled(p.now)
}

// reportContest fails a child of which fields are left to others.
func (p *pass) reportContest(c *planned) bool {
	if len(c.contested) == 0 {
		return false
	}
	c.fail(apply.Contested, apply.ReasonContested, &apply.ContestedError{
		Kind: c.id.GroupKind.Kind, Namespace: c.id.Key.Namespace, Name: c.id.Key.Name, Fields: c.contested,
	})
	c.requeue = c.memory.contest.until.Sub(p.now)
	return true
}

// managers is the hash of the entries of the managers that contest fields.
func (h *hasher) managers(c *planned, fields []apply.ContestedField) uint64 {
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
