package apply

import (
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/compare"
	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/managedfields"
)

// prove decides whether an existing object has to be patched: not when our
// fields and their values are those after the last apply of the same intent,
// and not when they are exactly the intent's.
func (p *pass) prove(c *planned) {
	content, err := p.compile(c)
	if err != nil {
		c.fail(Failed, ReasonInvalid, err)
		return
	}
	c.content = content
	live, err := p.engine.encoder.Live(c.live)
	if err != nil {
		c.fail(Failed, ReasonReadFailed, fmt.Errorf("encode the live object: %w", err))
		return
	}
	if p.strips(c.kind) {
		p.proveShape(c, live)
		return
	}
	if p.formerManagers(c) {
		c.prepare(p, actionMigrate, ReasonFormerManager)
		return
	}
	entry := managedfields.Entry(c.live.GetManagedFields(), c.manager)
	if entry == nil || entry.FieldsV1 == nil {
		c.yield(&managedfields.Set{}, live)
		p.tellLeftovers(c)
		p.mustApply(c, nil)
		return
	}
	set, err := managedfields.Parse(entry.FieldsV1.GetRawBytes())
	if err != nil {
		p.mustApply(c, nil)
		return
	}
	c.yield(set, live)
	m := c.memory
	projection := p.engine.hasher.Projection(set, c.content, live)
	same := entry.APIVersion == c.kind.gvk.GroupVersion().String()
	if same && m.proven && m.intent == c.hash && m.projection == projection {
		m.version = c.live.GetResourceVersion()
		return
	}
	if same {
		comparison := compare.Comparison{}
		comparison.Object(set, c.content, live)
		if !comparison.Different() {
			m.accept(c.hash, c.live.GetResourceVersion())
			m.projection = projection
			m.settled(p)
			return
		}
	}
	p.mustApply(c, set)
}

// proveShape is the fallback for caches without managedFields: the values at
// the intent's own paths are what they were after the last apply.
func (p *pass) proveShape(c *planned, live map[string]any) {
	m := c.memory
	c.yieldByValue(live)
	if m.proven && m.intent == c.hash && m.shape == p.engine.hasher.Shape(c.content, live) {
		m.version = c.live.GetResourceVersion()
		return
	}
	c.prepare(p, actionApply, c.difference())
}

// difference is why an object that exists has to be patched.
func (c *planned) difference() Reason {
	switch m := c.memory; {
	case m.intent == 0:
		return ReasonDiffers
	case m.intent != c.hash:
		return ReasonPlanChanged
	}
	return ReasonDrift
}

// yield leaves seeded fields out of the intent that the object has and that
// are not ours, or not any more.
func (c *planned) yield(set *managedfields.Set, live map[string]any) {
	for _, rule := range c.rules {
		if rule.policy != SeedField || rule.path.Owns(set) {
			continue
		}
		if _, exists := rule.path.Lookup(live); exists {
			rule.path.Remove(c.content)
		}
	}
}

// yieldByValue cannot see owners: a seeded field that differs is somebody's.
func (c *planned) yieldByValue(live map[string]any) {
	for _, rule := range c.rules {
		if rule.policy != SeedField {
			continue
		}
		have, exists := rule.path.Lookup(live)
		want, planned := rule.path.Lookup(c.content)
		if exists && planned && !compare.EqualValues("", want, have) {
			rule.path.Remove(c.content)
		}
	}
}

// mustApply plans the patch, and whether it takes fields from others: from
// those that changed them by update, as a person with kubectl edit does, but
// never from another manager that applies, and never in a contribution.
func (p *pass) mustApply(c *planned, set *managedfields.Set) {
	if p.fights(c, set) {
		return
	}
	c.force = c.child.Mode != Contribute && !p.appliers(c)
	c.prepare(p, actionApply, c.difference())
}

// appliers says whether another manager that applies may own a planned field.
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
	if noop && len(answer.GetManagedFields()) > 0 {
		p.noteStripped(c)
	}
	m.wrote(answer, p.now)
	if noop {
		m.written = "" // the cache has it already
	}
	m.accept(c.hash, answer.GetResourceVersion())
	m.projection, m.shape = 0, 0
	if content, err := p.engine.encoder.Live(answer); err == nil {
		m.shape = p.engine.hasher.Shape(c.content, content)
		if entry := managedfields.Entry(answer.GetManagedFields(), c.manager); entry != nil && entry.FieldsV1 != nil {
			if set, err := managedfields.Parse(entry.FieldsV1.GetRawBytes()); err == nil {
				m.projection = p.engine.hasher.Projection(set, c.content, content)
			}
		}
	}
	m.settled(p)
}
