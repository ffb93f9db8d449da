package engine

import (
	"slices"
	"strconv"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/reconcilekit/reconcilekit/reconcile/apply"
	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/memory"
)

// replacedWithin is the maximum age difference for a planned member that is younger than the surplus members and still counts as older than
// the plan. It applies when this process does not know when the plan was first made.
const replacedWithin = time.Minute

// notePlan remembers when the first plan was made, and which objects existed when this plan was first made.
func (p *pruning) notePlan() {
	m := &p.memory.Prune
	if m.FirstPass == 0 {
		m.FirstPass, m.Since = p.memory.Pass, p.now
	}
	if m.SincePass == 0 || m.Planned != p.identity {
		m.Planned, m.SincePass, m.Existed = p.identity, p.memory.Pass, p.existing()
	}
	p.noteChange()
}

// noteChange opens the guard for the first plan after a change.
func (p *pruning) noteChange() {
	m := &p.memory.Guard
	generation, inputs := p.owner.GetGeneration(), p.plan.Inputs
	if m.Known && generation <= m.Generation && m.Inputs == inputs {
		return // an earlier generation comes from a stale cache, which explains nothing
	}
	generation = max(generation, m.Generation)
	open := m.Known || p.changedBefore()
	*m = memory.Guard{Known: true, Generation: generation, Inputs: inputs, First: p.identity, Open: open}
}

// followsChange reports whether an input of the plan has changed and this is the first plan after the change.
func (p *pruning) followsChange() bool {
	m := &p.memory.Guard
	return m.Open && m.First == p.identity
}

// changedBefore reports, for the first plan of this process, whether the owner's spec has changed since its last plan was carried out. The
// status, the inventory, or an unfinished prune of the same plan show that. It returns false for a group, and for an owner that has lost
// its inventory.
func (p *pruning) changedBefore() bool {
	recorded := recordedInventory(p.pass)
	switch {
	case p.group != nil || p.memory.Metadata.Fresh:
		return false
	case p.allowPrune != "" && p.allowPrune == p.changeToken():
		return true
	case p.memory.Metadata.Lost:
		return false
	}
	observed, known := observedGeneration(p.env, p.owner)
	observed = max(observed, recorded.Generation)
	if !known && observed == 0 { // it crashed before anything recorded it: is this still the first spec?
		return p.owner.GetGeneration() > 1
	}
	return observed < p.owner.GetGeneration()
}

// guard keeps objects whose removal nothing explains: members that hold data or work, and all members if there are more than the options
// allow. It returns the members that may be deleted.
func (d *pruneDecider) guard(surplus []memberObject, members int) []memberObject {
	if d.finalize {
		return surplus
	}
	surplus = d.keepNewer(surplus)
	if d.plan.Policy == apply.Withdraw || d.explained {
		return surplus
	}
	held := func(memberObject) bool { return true }
	reason := apply.ReasonTooMany
	if !d.exceedsLimits(surplus, members) {
		held = func(m memberObject) bool { return m.holdsData }
		reason = apply.ReasonHoldsData
	}
	return d.hold(surplus, reason, held)
}

// keepNewer keeps objects that another process has created since. This process may have an older version of the plan, in the last seconds
// of its lease.
func (d *pruneDecider) keepNewer(surplus []memberObject) []memberObject {
	return d.hold(surplus, apply.ReasonNewer, func(o memberObject) bool { return madeByAnother(o, d.since, d.seen) })
}

// keepReplaced keeps members whose replacement waits for a condition.
func (d *pruneDecider) keepReplaced(surplus []memberObject) []memberObject {
	if d.finalize {
		return surplus
	}
	return slices.DeleteFunc(surplus, func(m memberObject) bool {
		c := replacement(d.children, m, func(c *child) bool { return c.result.WaitsUntil != "" && c.live == nil })
		if c == nil || m.deleting {
			return false
		}
		d.guarded = true
		d.block(&apply.PruneBlockedError{
			Reason: apply.ReasonReplacementFailed, Objects: []string{m.id.String()},
			Cause: notReplacing(c),
		})
		return true
	})
}

// replacement returns the planned child that may be the missing replacement of a member, nil if there is none. It has the same kind and
// namespace, does not exist, and no plan of this process has named both. RBAC objects are never kept for a replacement.
func replacement(children []*child, m memberObject, missing func(*child) bool) *child {
	if m.id.GroupKind.Group == rbacGroup {
		return nil
	}
	at := slices.IndexFunc(children, func(c *child) bool {
		return missing(c) && c.id.GroupKind == m.id.GroupKind && c.id.Key.Namespace == m.id.Key.Namespace && c.member &&
			c.memory != nil && c.memory.UID() == "" && (m.memory == nil || !c.memory.PlannedBeside(m.memory))
	})
	if at < 0 {
		return nil
	}
	return children[at]
}

// hold keeps members until an annotation allows exactly their deletion. It returns the others.
func (d *pruneDecider) hold(surplus []memberObject, reason apply.Reason, held func(memberObject) bool) []memberObject {
	blocked := &apply.PruneBlockedError{Reason: reason, Annotation: d.keys.AllowPrune, OnChild: d.group != nil}
	allowed := []string{d.allowPrune}
	for _, m := range surplus {
		if held(m) && !m.deleting {
			blocked.Objects = append(blocked.Objects, m.id.String())
			allowed = append(allowed, m.allowPrune)
		}
	}
	if len(blocked.Objects) == 0 {
		return surplus
	}
	slices.Sort(blocked.Objects)
	blocked.Token = token(blocked.Objects...)
	if slices.Contains(allowed, blocked.Token) {
		return surplus
	}
	d.block(blocked)
	d.guarded = true
	return slices.DeleteFunc(surplus, func(m memberObject) bool { return held(m) && !m.deleting })
}

// exceedsLimits reports whether a prune exceeds the limits of the options.
func (d *pruneDecider) exceedsLimits(surplus []memberObject, members int) bool {
	doomed := 0
	for _, m := range surplus {
		if !m.deleting {
			doomed++
		}
	}
	o := &d.options
	return doomed >= o.PruneMinimum && float64(doomed) > o.PruneShare*float64(members)
}

// existedBefore returns the number of members that existed before the plan: the surplus, and the planned members that existed when the
// plan was first made. Objects that the plan has just added do not reduce the share of a prune. After a restart, the age of the planned
// members shows which of them replace the surplus: they are younger than half of it. The other half may have been created again meanwhile.
func existedBefore(members []memberObject, planned int, restarted bool) int {
	var surplus []time.Time
	for i := range members {
		if !members[i].planned {
			surplus = append(surplus, members[i].created)
		}
	}
	if !restarted || len(surplus) == 0 {
		return len(surplus) + planned
	}
	slices.SortFunc(surplus, time.Time.Compare)
	median, newer := surplus[len(surplus)/2], 0
	for i := range members {
		if members[i].planned && members[i].created.After(median.Add(replacedWithin)) {
			newer++
		}
	}
	return len(surplus) + max(0, planned-newer)
}

// madeByAnother reports whether another process created a member after this process made its first plan: this process has never planned
// the member, and it did not exist then.
func madeByAnother(m memberObject, since time.Time, seen map[types.UID]struct{}) bool {
	_, old := seen[m.uid]
	return m.unknown && !old && m.created.After(since)
}

// changeToken returns a token for the spec, the inputs and the planned objects of this pass.
func (p *pruning) changeToken() string {
	names := []string{strconv.FormatInt(p.owner.GetGeneration(), 10), p.plan.Inputs}
	for _, c := range p.children {
		if c.kind != nil {
			names = append(names, c.id.String())
		}
	}
	slices.Sort(names[2:])
	return token(names...)
}

// recordChangeToken records on the owner that a large, unfinished prune is explained. The status that is written next would hide that the
// spec has changed.
func (p *pruning) recordChangeToken() error {
	if p.group != nil || p.allowPrune == p.changeToken() {
		return nil
	}
	p.allowPrune = p.changeToken()
	return recordInventory(p.pass, recordedInventory(p.pass))
}
