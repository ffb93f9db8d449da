package apply

import (
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// prove decides whether an existing object has to be patched: not when our
// fields and their values are those after the last apply of the same intent,
// and not when they are exactly the intent's.
func (p *pass) prove(c *planned) {
	content, err := p.compile(c)
	if err != nil {
		c.fail(Failed, err)
		return
	}
	c.content = content
	live, err := p.engine.liveContent(c.live)
	if err != nil {
		c.fail(Failed, fmt.Errorf("encode the live object: %w", err))
		return
	}
	if p.strips(c.kind) {
		p.proveShape(c, live)
		return
	}
	if p.formerManagers(c) {
		c.prepare(p, actionMigrate)
		return
	}
	entry := ownEntry(c.live.GetManagedFields(), c.manager)
	if entry == nil || entry.FieldsV1 == nil {
		c.yield(&fieldSet{}, live)
		p.mustApply(c, nil)
		return
	}
	set, err := parseFieldSet(entry.FieldsV1.GetRawBytes())
	if err != nil {
		p.mustApply(c, nil)
		return
	}
	c.yield(set, live)
	m := c.memory
	projection := p.engine.hasher.projection(set, c.content, live)
	same := entry.APIVersion == c.kind.gvk.GroupVersion().String()
	if same && m.proven && m.intent == c.hash && m.projection == projection {
		m.version = c.live.GetResourceVersion()
		return
	}
	if same {
		compare := comparison{}
		compare.fields(nil, set, c.content, live)
		if !compare.different {
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
	if m.proven && m.intent == c.hash && m.shape == p.engine.hasher.shapeOf(c.content, live) {
		m.version = c.live.GetResourceVersion()
		return
	}
	c.prepare(p, actionApply)
}

// yield leaves seeded fields out of the intent that the object has and that
// are not ours, or not any more.
func (c *planned) yield(set *fieldSet, live map[string]any) {
	for _, rule := range c.rules {
		if rule.policy != SeedField || rule.path.owns(set) {
			continue
		}
		if _, exists := rule.path.lookup(live); exists {
			rule.path.remove(c.content)
		}
	}
}

// yieldByValue cannot see owners: a seeded field that differs is somebody's.
func (c *planned) yieldByValue(live map[string]any) {
	for _, rule := range c.rules {
		if rule.policy != SeedField {
			continue
		}
		have, exists := rule.path.lookup(live)
		want, planned := rule.path.lookup(c.content)
		if exists && planned && !equalValues("", want, have) {
			rule.path.remove(c.content)
		}
	}
}

// mustApply plans the patch, and whether it takes fields from others: from
// those that changed them by update, as a person with kubectl edit does, but
// never from another manager that applies, and never in a contribution.
func (p *pass) mustApply(c *planned, set *fieldSet) {
	if p.fights(c, set) {
		return
	}
	c.force = c.child.Mode != Contribute && !p.appliers(c)
	c.prepare(p, actionApply)
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
		set, err := parseFieldSet(e.FieldsV1.GetRawBytes())
		if err != nil || intersects(set, c.content) {
			return true
		}
	}
	return false
}

// intersects says whether content sets a field of the set.
func intersects(set *fieldSet, content any) bool {
	if set.leaf() {
		return true
	}
	switch x := content.(type) {
	case map[string]any:
		for i := range set.fields {
			if below, ok := x[set.fields[i].name]; ok && intersects(set.fields[i].set, below) {
				return true
			}
		}
		return false
	case []any:
		for i := range set.items {
			for _, item := range x {
				it := &set.items[i]
				if it.keys == nil && equalScalars(it.value, item) {
					return true
				}
				if it.keys != nil && it.planned("", item, false) && intersectsItem(it, item) {
					return true
				}
			}
		}
		return false
	}
	return true
}

// intersectsItem leaves out the keys, which everybody owns with one value.
func intersectsItem(it *itemSet, item any) bool {
	m, _ := item.(map[string]any)
	for i := range it.set.fields {
		f := &it.set.fields[i]
		if _, isKey := it.keys[f.name]; isKey {
			continue
		}
		if below, ok := m[f.name]; ok && intersects(f.set, below) {
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
	if content, err := p.engine.liveContent(answer); err == nil {
		m.shape = p.engine.hasher.shapeOf(c.content, content)
		if entry := ownEntry(answer.GetManagedFields(), c.manager); entry != nil && entry.FieldsV1 != nil {
			if set, err := parseFieldSet(entry.FieldsV1.GetRawBytes()); err == nil {
				m.projection = p.engine.hasher.projection(set, c.content, content)
			}
		}
	}
	m.settled(p)
}
