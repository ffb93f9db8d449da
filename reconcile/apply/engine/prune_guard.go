package engine

import (
	"slices"
	"strconv"

	"github.com/reconcilekit/reconcilekit/reconcile/apply"
	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/memory"
)

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
func (p *pruning) guard(surplus []memberObject, members int) []memberObject {
	if p.finalize {
		return surplus
	}
	surplus = p.keepNewer(surplus)
	if p.plan.Policy == apply.Withdraw || p.followsChange() {
		return surplus
	}
	held := func(memberObject) bool { return true }
	reason := apply.ReasonTooMany
	if !p.exceedsLimits(surplus, members) {
		held = func(m memberObject) bool { return m.holdsData }
		reason = apply.ReasonHoldsData
	}
	return p.hold(surplus, reason, held)
}

// hold keeps members until an annotation allows exactly their deletion. It returns the others.
func (p *pruning) hold(surplus []memberObject, reason apply.Reason, held func(memberObject) bool) []memberObject {
	blocked := &apply.PruneBlockedError{Reason: reason, Annotation: p.keys.AllowPrune, OnChild: p.group != nil}
	allowed := []string{p.allowPrune}
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
	p.block(blocked)
	p.held = true
	return slices.DeleteFunc(surplus, func(m memberObject) bool { return held(m) && !m.deleting })
}

// exceedsLimits reports whether a prune exceeds the limits of the options.
func (p *pruning) exceedsLimits(surplus []memberObject, members int) bool {
	doomed := 0
	for _, m := range surplus {
		if !m.deleting {
			doomed++
		}
	}
	o := &p.env.options
	return doomed >= o.PruneMinimum && float64(doomed) > o.PruneShare*float64(members)
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
