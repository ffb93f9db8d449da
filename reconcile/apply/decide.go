package apply

import (
	"hash/maphash"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/content"
)

// decide turns the plan, the world and what is remembered into decisions. It
// only reads.
func (p *pass) decide() {
	if p.suspended() {
		p.decideSuspended()
		return
	}
	p.resolveAll()
	p.decideDeletions()
	for _, c := range p.children {
		p.decideChild(c)
		c.decided()
	}
	p.decideInventory()
	if p.result.OwnerErr == nil {
		p.decidePrune()
	}
}

// carryOut does what was decided.
func (p *pass) carryOut() {
	if p.suspended() {
		p.carryOutSuspended()
		return
	}
	p.deletePlanned()
	if p.result.OwnerErr == nil {
		p.result.OwnerErr = p.grow()
	}
	if p.result.OwnerErr != nil {
		p.blockChildren()
		p.collect()
		return
	}
	p.write()
	p.collect()
	p.prune()
	p.conclude()
}

// decideChild finds out what has to be sent for a child. In the common case
// that is nothing, and the resourceVersion and the hash of the intent say so.
func (p *pass) decideChild(c *planned) {
	if c.result.Outcome != "" {
		return
	}
	c.result.Outcome, c.result.Reason = Unchanged, ReasonUpToDate
	if err := p.readCached(c); err != nil {
		c.fail(Failed, ReasonReadFailed, err)
		return
	}
	if c.memory.lags(c.live) {
		if p.waits(c) {
			return
		}
		if err := p.readLive(c); err != nil {
			c.fail(Failed, ReasonReadFailed, err)
			return
		}
	} else if c.memory.written != "" && c.live != nil {
		p.caughtUp(c)
	}
	m := c.memory
	if c.live == nil {
		p.decideMissing(c)
		return
	}
	if m.proven && m.intent == c.hash && m.version == c.live.GetResourceVersion() {
		return
	}
	p.decideExisting(c)
}

func (p *pass) readCached(c *planned) error {
	o := c.kind.newObject()
	err := p.engine.client.Get(p.ctx, c.id.Key, o, p.engine.cached...)
	return c.got(o, err)
}

func (p *pass) readLive(c *planned) error {
	c.free()
	c.memory.written = ""
	o := c.kind.newObject()
	err := p.engine.live.Get(p.ctx, c.id.Key, o)
	return c.got(o, err)
}

func (c *planned) got(o client.Object, err error) error {
	if err == nil {
		c.live = o
		return nil
	}
	c.kind.release(o)
	return client.IgnoreNotFound(err)
}

// waits handles a cache that does not show our last write yet. It says whether
// the child is settled for this pass.
func (p *pass) waits(c *planned) bool {
	m := c.memory
	rest := p.engine.opts.LagDeadline - p.now.Sub(m.writtenAt)
	if rest <= 0 {
		return false
	}
	c.requeue, c.result.Reason = rest, ReasonStaleCache
	if m.proven && m.intent == c.hash {
		return true
	}
	// The plan has changed since: apply it to the object that we wrote.
	c.free()
	c.uid = m.uid
	if c.child.Mode != Once {
		c.prepare(p, actionApply, ReasonPlanChanged)
	}
	return true
}

// caughtUp notes that the cache shows our last write, and whether it kept the
// managedFields.
func (p *pass) caughtUp(c *planned) {
	if c.live.GetResourceVersion() == c.memory.written && c.child.Mode != Once {
		p.noteStripped(c)
	}
	c.memory.written = ""
}

// noteStripped remembers, and says once, that the cache strips managedFields.
func (p *pass) noteStripped(c *planned) {
	if len(c.live.GetManagedFields()) > 0 {
		return
	}
	if _, known := p.engine.stripped.LoadOrStore(c.kind, struct{}{}); !known {
		log.FromContext(p.ctx).Info("the cache strips managedFields; changes are found by comparing values, "+
			"and a restart costs one patch per child; use the transform of this package instead", "kind", c.kind.gvk.String())
	}
}

func (p *pass) strips(k *kind) bool {
	_, strips := p.engine.stripped.Load(k)
	return strips
}

func (p *pass) decideMissing(c *planned) {
	m := c.memory
	m.proven, m.written = false, ""
	if p.repeats(c, "", 0) {
		return
	}
	m.uid = ""
	c.result.Reason = ReasonMissing
	switch c.child.Mode {
	case Contribute:
		c.fail(Blocked, ReasonMissing, apierrors.NewNotFound(resourceOf(c.kind.gvk), c.id.Key.Name))
		return
	case Once:
		if !c.child.Existing {
			c.prepare(p, actionCreate, ReasonMissing)
		}
		return
	case Own, Shared:
	}
	if !c.reach && !p.firstLook(c) {
		return
	}
	c.prepare(p, actionApply, ReasonMissing)
}

// repeats says that the same request has failed before and would fail again.
func (p *pass) repeats(c *planned, uid string, others uint64) bool {
	t := c.memory.trouble
	if !t.stands(c.hash, typesUID(uid), others, p.now) {
		return false
	}
	c.fail(t.outcome, ReasonBackoff, t.err)
	c.requeue = t.until.Sub(p.now)
	return true
}

// decideExisting looks at an object that has changed, or that is new to us.
func (p *pass) decideExisting(c *planned) {
	m := c.memory
	if p.leaving(c) {
		return
	}
	if c.child.Mode != Contribute && p.engine.optedOut(c.live) {
		c.result.Outcome, c.result.Reason, m.proven = OptedOut, ReasonOptedOut, false
		return
	}
	known := m.uid == c.live.GetUID()
	m.proven = m.proven && known
	if !p.mayTake(c) {
		return
	}
	m.uid, c.uid = c.live.GetUID(), c.live.GetUID()
	if c.child.Mode == Once {
		c.result.Reason = ReasonExists
		m.accept(c.hash, c.live.GetResourceVersion())
		return
	}
	if p.repeats(c, string(c.uid), p.engine.hasher.others(c)) {
		return
	}
	p.prove(c)
	p.lookFirst(c, known)
}

// leaving says that the object is being deleted, by us or by others. It is
// applied again when it is gone.
func (p *pass) leaving(c *planned) bool {
	m := c.memory
	lagging := m.deleted != "" && m.deleted == c.live.GetUID() && p.now.Sub(m.writtenAt) < p.engine.opts.LagDeadline
	if !lagging && (c.live.GetDeletionTimestamp() == nil || c.child.Mode == Contribute) {
		return false
	}
	c.result.Outcome, c.result.Reason, c.requeue = Blocked, ReasonTerminating, confirmAfter
	m.proven = false
	return true
}

// prepare compiles the intent for a request.
func (c *planned) prepare(p *pass, a action, why Reason) {
	if c.content == nil {
		content, err := p.compile(c)
		if err != nil {
			c.fail(Failed, ReasonInvalid, err)
			return
		}
		c.content = content
	}
	c.action, c.result.Reason = a, why
}

// accept remembers that the intent is true in this version.
func (m *childMemory) accept(intent uint64, version string) {
	m.proven, m.intent, m.version = true, intent, version
}

// others is the hash of which other managers wrote to the object, and when.
// It survives [ShortenManagedFields].
func (h *hasher) others(c *planned) uint64 {
	entries := c.live.GetManagedFields()
	if len(entries) == 0 {
		return 0
	}
	return h.Sum(func(s *maphash.Hash) {
		for i := range entries {
			e := &entries[i]
			if e.Subresource == "status" || (e.Manager == c.manager && e.Operation == metav1.ManagedFieldsOperationApply) {
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
