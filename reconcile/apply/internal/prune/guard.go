package prune

import (
	"slices"
	"strconv"

	"github.com/reconcilekit/reconcilekit/reconcile/apply"
	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/inventory"
	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/memory"
	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/pass"
)

// notePlan remembers when a plan was first made and what existed then, and opens
// the guard for the first plan that follows a change.
func (p *Prune) notePlan() {
	if m := &p.Memory.Prune; m.SincePass == 0 || m.Planned != p.Identity {
		m.Planned, m.Since, m.SincePass, m.Existed, m.Seen = p.Identity, p.Now, p.Memory.Pass, p.existing(), nil
	}
	m := &p.Memory.Guard
	generation, inputs := p.Owner.GetGeneration(), p.Plan.Inputs
	if m.Known && generation <= m.Generation && m.Inputs == inputs {
		return // a generation from before is a cache that has gone back, which explains nothing
	}
	generation = max(generation, m.Generation)
	open := m.Known || p.changedBefore()
	*m = memory.Guard{Known: true, Generation: generation, Inputs: inputs, First: p.Identity, Open: open}
}

// followsChange reports whether something that plans depend on has changed, and
// this is the plan that followed.
func (p *Prune) followsChange() bool {
	m := &p.Memory.Guard
	return m.Open && m.First == p.Identity
}

// changedBefore reports, for the first plan of this process, whether the
// owner's spec has changed since its last plan was carried out: its status or
// its inventory says so, or a prune of this very plan was under way. Of a group
// nothing says so, and nothing of an owner that has lost its inventory.
func (p *Prune) changedBefore() bool {
	recorded := inventory.Recorded(p.Pass)
	switch {
	case p.Group != nil || p.Memory.Metadata.Fresh:
		return false
	case p.AllowPrune != "" && p.AllowPrune == p.changeToken():
		return true
	case p.Memory.Metadata.Lost:
		return false
	}
	observed, known := inventory.ObservedGeneration(p.Env, p.Owner)
	observed = max(observed, recorded.Generation)
	if !known && observed == 0 { // it crashed before anything said so: is this still the first spec?
		return p.Owner.GetGeneration() > 1
	}
	return observed < p.Owner.GetGeneration()
}

// guard holds back what nothing explains: members that hold data or work, and
// everything if it is more than the options allow. It returns what may go.
func (p *Prune) guard(surplus []memberObject, members int) []memberObject {
	if p.Finalize {
		return surplus
	}
	surplus = p.keepNewer(surplus)
	if p.Plan.Policy == apply.Withdraw || p.followsChange() {
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
func (p *Prune) hold(surplus []memberObject, reason apply.Reason, held func(memberObject) bool) []memberObject {
	blocked := &apply.PruneBlockedError{Reason: reason, Annotation: p.Keys.AllowPrune, OnChild: p.Group != nil}
	allowed := []string{p.AllowPrune}
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
	blocked.Token = pass.Token(blocked.Objects...)
	if slices.Contains(allowed, blocked.Token) {
		return surplus
	}
	p.Block(blocked)
	p.held = true
	return slices.DeleteFunc(surplus, func(m memberObject) bool { return held(m) && !m.deleting })
}

// exceedsLimits reports whether a prune is above the limits of the options.
func (p *Prune) exceedsLimits(surplus []memberObject, members int) bool {
	doomed := 0
	for _, m := range surplus {
		if !m.deleting {
			doomed++
		}
	}
	o := &p.Env.Options
	return doomed >= o.PruneMinimum && float64(doomed) > o.PruneShare*float64(members)
}

// changeToken stands for the spec and the inputs of this pass, and for the
// objects that are planned.
func (p *Prune) changeToken() string {
	names := []string{strconv.FormatInt(p.Owner.GetGeneration(), 10), p.Plan.Inputs}
	for _, c := range p.Children {
		if c.Kind != nil {
			names = append(names, c.ID.String())
		}
	}
	slices.Sort(names[2:])
	return pass.Token(names...)
}

// recordChangeToken records on the owner that a large prune is explained, when it
// could not be finished: the status that is written next would hide that the
// spec has changed.
func (p *Prune) recordChangeToken() error {
	if p.Group != nil || p.AllowPrune == p.changeToken() {
		return nil
	}
	p.AllowPrune = p.changeToken()
	return inventory.Record(p.Pass, inventory.Recorded(p.Pass))
}
