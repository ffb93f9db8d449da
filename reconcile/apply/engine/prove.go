package engine

import (
	"fmt"
	"hash/maphash"
	"reflect"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/reconcilekit/reconcilekit/reconcile/apply"
	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/compare"
	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/managedfields"
	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/memory"
)

// prove decides whether an existing object has to be patched: not when our
// fields and their values are those after the last apply of the same intent,
// and not when they are exactly the intent's.
func (p *pass) prove(c *planned) {
	content, err := p.compile(c)
	if err != nil {
		c.fail(apply.Failed, apply.ReasonInvalid, err)
		return
	}
	c.content = content
	live, err := p.engine.encoder.Live(c.live)
	if err != nil {
		c.fail(apply.Failed, apply.ReasonReadFailed, fmt.Errorf("encode the live object: %w", err))
		return
	}
	if p.formerManagers(c) {
		c.prepare(p, actionMigrate, apply.ReasonFormerManager)
		return
	}
	if c.lostEntry(c.live.GetManagedFields()) && c.memory.Owned.Set().Intersects(live) {
		c.follow(c.memory.Owned.Set(), live)
		c.prepare(p, actionMigrate, apply.ReasonOwnershipLost)
		return
	}
	p.proveFields(c, live)
}

// proveFields compares field by field what our manager owns.
func (p *pass) proveFields(c *planned, live map[string]any) {
	set, version := p.ownFields(c)
	if version == "" {
		p.tellLeftovers(c)
	}
	left := c.follow(set, live)
	p.leaveContested(c, set, live)
	c.noteUnwanted(live)
	m := c.memory
	projection := p.projection(c, left, live)
	same := version == c.kind.GVK.GroupVersion().String() || (version == "" && len(c.content) == 0)
	if same && m.Proven && m.Intent == c.hash && m.Projection == projection {
		if p.removes(c) {
			c.prepare(p, actionRemove, c.difference())
			return
		}
		m.Version = c.live.GetResourceVersion()
		p.stand(c)
		return
	}
	if same && c.agrees(left, live) {
		if p.removes(c) {
			c.prepare(p, actionRemove, c.difference())
			return
		}
		m.Accept(c.hash, c.live.GetResourceVersion())
		m.Projection, m.Owned = projection, memory.Remembered(managedfields.Entry(c.live.GetManagedFields(), c.manager))
		p.stand(c)
		return
	}
	p.mustApply(c, set, left, live)
}

// projection is the hash of our fields in the live object, and of what is left
// of the content where that is not all of the plan.
func (p *pass) projection(c *planned, set *managedfields.Set, live map[string]any) uint64 {
	h := p.engine.hasher
	projected := h.Projection(c.kind.Schema, set, c.content, live)
	if len(c.rules) > 0 || len(c.contested) > 0 {
		projected += h.Sum(func(s *maphash.Hash) { h.Content(s, c.content) })
	}
	return projected
}

// withoutSettled takes the fields that are sent once out of the content that
// was sent, and out of the set.
func (c *planned) withoutSettled(set *managedfields.Set) *managedfields.Set {
	for i := range c.rules {
		if rule := &c.rules[i]; rule.Policy == apply.CreateOnlyField {
			rule.Path.Remove(c.content)
			set = rule.Path.Without(set)
		}
	}
	return set
}

// ownFields is what our manager owns in the live object, and in which version
// of the kind it says so. Nothing has no version.
func (p *pass) ownFields(c *planned) (*managedfields.Set, string) {
	entry := managedfields.Entry(c.live.GetManagedFields(), c.manager)
	if entry == nil || entry.FieldsV1 == nil {
		return &managedfields.Set{}, ""
	}
	set, err := managedfields.Parse(entry.FieldsV1.GetRawBytes())
	if err != nil {
		return &managedfields.Set{}, ""
	}
	return set, entry.APIVersion
}

// agrees reports whether an apply of the content would change nothing.
func (c *planned) agrees(set *managedfields.Set, live map[string]any) bool {
	comparison := compare.Comparison{Schema: c.kind.Schema}
	comparison.Object(set, c.content, live)
	return !comparison.Different()
}

// difference is why an object that exists has to be patched.
func (c *planned) difference() apply.Reason {
	switch m := c.memory; {
	case m.Intent == 0:
		return apply.ReasonDiffers
	case m.Intent != c.hash:
		return apply.ReasonPlanChanged
	}
	return apply.ReasonDrift
}

// mustApply plans the patch, and whether it takes fields from others: from
// those that changed them by update, as a person with kubectl edit does, but
// never from another manager that applies, and never in a contribution.
func (p *pass) mustApply(c *planned, set, left *managedfields.Set, live map[string]any) {
	if p.fights(c, set, left, live) {
		p.stand(c)
		return
	}
	if !c.repeat(set, live) && !c.fresh {
		p.decideFresh(c) // the cache does not show all that is ours
		return
	}
	c.force = c.child.Mode != apply.Contribute && !p.appliers(c)
	c.prepare(p, actionApply, c.difference())
}

// decideFresh decides anew with what the API server has.
func (p *pass) decideFresh(c *planned) {
	if err := p.readLive(c); err != nil {
		c.fail(apply.Failed, apply.ReasonReadFailed, err)
		return
	}
	if c.live == nil {
		p.decideMissing(c)
		return
	}
	p.decideExisting(c)
}

// appliers reports whether another manager that applies may own a planned field.
func (p *pass) appliers(c *planned) bool {
	entries := c.live.GetManagedFields()
	for i := range entries {
		e := &entries[i]
		if e.Operation != metav1.ManagedFieldsOperationApply || e.Subresource != "" || e.Manager == c.manager {
			continue
		}
		if e.FieldsV1 == nil {
			return true // shortened
		}
		set, err := managedfields.Parse(e.FieldsV1.GetRawBytes())
		if err != nil || set.Intersects(c.content) {
			return true
		}
	}
	return false
}

// applied learns from the answer to an apply.
func (p *pass) applied(c *planned, answer client.Object) {
	m := c.memory
	noop := c.live != nil && c.live.GetResourceVersion() == answer.GetResourceVersion()
	m.Wrote(answer, p.now)
	if c.member() {
		m.Ours = m.UID
	}
	if noop {
		m.Shown()
	}
	m.Accept(c.hash, answer.GetResourceVersion())
	m.Projection, m.Shape = 0, 0
	m.Owned = memory.Remembered(managedfields.Entry(answer.GetManagedFields(), c.manager))
	if live, err := p.engine.encoder.Live(answer); err == nil {
		set := m.Owned.Set()
		final := noop || (compare.Taken(c.kind.Schema, set, c.content, live) && p.sendsSame(c, answer, set, live))
		m.Projection = p.projection(c, c.withoutSettled(set), live)
		m.Answered(final)
	}
	if len(c.contested) == 0 {
		m.Contest = nil
	}
	m.Succeeded(p.now)
}

// sendsSame reports whether the rules for single fields make of the answer what
// was sent. A field that was left to others can be gone with the value that it
// is a part of.
func (p *pass) sendsSame(c *planned, answer client.Object, set *managedfields.Set, live map[string]any) bool {
	if len(c.rules) == 0 || len(c.contested) > 0 {
		return true
	}
	next := &planned{
		child: c.child, kind: c.kind, id: c.id, hash: c.hash, memory: c.memory, reach: c.reach, manager: c.manager, rules: c.rules, live: answer,
	}
	var err error
	if next.content, err = p.compile(next); err != nil {
		return false
	}
	next.follow(set, live)
	for _, path := range c.left {
		next.leave(path, nil, nil)
	}
	return next.repeat(set, live) && reflect.DeepEqual(next.content, c.content)
}
