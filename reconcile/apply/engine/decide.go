package engine

import (
	"fmt"
	"hash/maphash"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/reconcilekit/reconcilekit/reconcile/apply"
	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/content"
	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/intent"
	"github.com/reconcilekit/reconcilekit/reconcile/internal/freshness"
)

// decideChild finds out what has to be sent for a child. In the common case
// that is nothing, and the resourceVersion and the hash of the intent say so.
func (p *pass) decideChild(c *planned) {
	if c.result.Outcome != "" {
		return
	}
	c.result.Outcome, c.result.Reason = apply.Unchanged, apply.ReasonUpToDate
	if err := p.readCached(c); err != nil {
		c.fail(apply.Failed, apply.ReasonReadFailed, err)
		return
	}
	if c.memory.Written.HiddenBy(c.live) {
		if p.waits(c) {
			return
		}
		if err := p.readLive(c); err != nil {
			c.fail(apply.Failed, apply.ReasonReadFailed, err)
			return
		}
	} else if c.live != nil {
		c.memory.Shown()
	}
	if c.live == nil {
		p.decideMissing(c)
		return
	}
	if m := c.memory; m.Proven && m.Intent == c.hash && m.Version == c.live.GetResourceVersion() {
		if m.Contest == nil {
			p.noteShape(c)
			return
		}
		if m.Contest.Stands(c.hash, c.live.GetUID(), p.now) {
			c.contested = m.Contest.Fields
			p.stand(c)
			return
		}
	}
	if len(c.live.GetManagedFields()) == 0 && !c.fresh && c.child.Mode != apply.Once {
		if t := c.memory.Failure; t != nil && t.Version == c.live.GetResourceVersion() && p.repeats(c, string(t.UID), t.Others) {
			return
		}
		p.decideStripped(c)
		return
	}
	p.decideExisting(c)
}

func (p *pass) readCached(c *planned) error {
	if c == p.self {
		c.live = p.ownerMetadata()
		return nil
	}
	o := c.kind.NewObject()
	err := p.engine.client.Get(p.ctx, c.id.Key, o, p.engine.cached...)
	return c.got(o, err)
}

// readLive reads the object from the API server, and remembers that it is no
// older than that, for a cache that does not show it yet.
func (p *pass) readLive(c *planned) error {
	c.free()
	c.fresh, c.settled = true, nil
	c.memory.Shown()
	o := c.kind.NewObject()
	err := c.got(o, p.engine.live.Get(p.ctx, c.id.Key, o))
	if c == p.self && c.live != nil && c.live.GetUID() != p.owner.GetUID() {
		c.live = nil // another one of the name
	}
	if c.live != nil {
		c.memory.Written = freshness.Wrote(c.live.GetResourceVersion(), p.now)
	}
	return err
}

func (c *planned) got(o client.Object, err error) error {
	if err == nil {
		c.live = o
		return nil
	}
	c.kind.Release(o)
	return client.IgnoreNotFound(err)
}

// waits handles a cache that does not show our last write yet. It reports
// whether the child is settled for this pass. A plan that has changed since is
// decided about with what the API server has.
func (p *pass) waits(c *planned) bool {
	m := c.memory
	rest := m.Written.Left(p.now, p.engine.opts.LagDeadline)
	if rest <= 0 || !m.Proven || m.Intent != c.hash {
		return false
	}
	c.requeue, c.result.Reason = rest, apply.ReasonStaleCache
	if m.Contest != nil {
		c.contested = m.Contest.Fields
		p.reportContest(c)
	}
	return true
}

// decideStripped decides about a child of which the cache shows no
// managedFields. While what the cache does show of the planned fields is what
// it was when they were last looked at, that stands; otherwise they are looked
// at live. What the cache strips is not repaired before that.
func (p *pass) decideStripped(c *planned) {
	m := c.memory
	seen, err := p.shape(c)
	if err != nil {
		c.fail(apply.Failed, apply.ReasonInvalid, err)
		return
	}
	version := c.live.GetResourceVersion()
	if m.Proven && m.Intent == c.hash && m.Shape == seen && m.Contest == nil {
		m.Version = version
		return
	}
	if p.decideFresh(c); c.live == nil {
		return
	}
	p.noteStripped(c)
	if m.Proven && c.action == actionNone && c.live.GetResourceVersion() == version {
		m.Shape = seen
		m.Shown()
	}
}

// noteShape remembers what a cache that strips managedFields shows of what has
// just been applied.
func (p *pass) noteShape(c *planned) {
	if c.memory.Shape != 0 || c.child.Mode == apply.Once || len(c.live.GetManagedFields()) > 0 {
		return
	}
	if seen, err := p.shape(c); err == nil {
		c.memory.Shape = seen
	}
}

// shape is the hash of the live values at the paths of the intent.
func (p *pass) shape(c *planned) (uint64, error) {
	content, err := p.compile(c)
	if err != nil {
		return 0, err
	}
	live, err := p.engine.encoder.Live(c.live)
	if err != nil {
		return 0, fmt.Errorf("encode the live object: %w", err)
	}
	c.noteUnwanted(live)
	return p.engine.hasher.Shape(c.kind.Schema, content, live) + uint64(len(c.unwanted)), nil
}

// noteStripped says once that the cache strips the managedFields that the API
// server has.
func (p *pass) noteStripped(c *planned) {
	if len(c.live.GetManagedFields()) == 0 {
		return
	}
	if _, known := p.engine.stripped.LoadOrStore(c.kind, struct{}{}); !known {
		log.FromContext(p.ctx).Info("the cache strips managedFields: drift of what it strips besides is not seen, and after a start "+
			"and after each write one read per child goes to the API server; the transform of this package keeps what is needed",
			"kind", c.kind.GVK.String())
	}
}

func (p *pass) decideMissing(c *planned) {
	m := c.memory
	m.Proven = false
	m.Shown()
	left := p.vanished(c)
	m.UID = ""
	if left || p.repeats(c, "", 0) {
		return
	}
	c.result.Reason = apply.ReasonMissing
	switch c.child.Mode {
	case apply.Contribute:
		c.fail(apply.Blocked, apply.ReasonMissing, apierrors.NewNotFound(resourceOf(c.kind.GVK), c.id.Key.Name))
		return
	case apply.Once:
		if !c.child.Existing {
			c.prepare(p, actionCreate, apply.ReasonMissing)
		}
		return
	case apply.Own, apply.Shared, apply.Retained:
	}
	if p.dry && !c.fresh {
		p.decideFresh(c) // a write would find out
		return
	}
	c.prepare(p, actionApply, apply.ReasonMissing)
}

// repeats reports that the same request has failed before and would fail again.
func (p *pass) repeats(c *planned, uid string, others uint64) bool {
	t := c.memory.Failure
	if !t.Stands(c.hash, typesUID(uid), others, p.now) {
		return false
	}
	c.fail(t.Outcome, apply.ReasonBackoff, t.Err)
	c.requeue = t.Until.Sub(p.now)
	return true
}

// decideExisting looks at an object that has changed, or that is new to us.
func (p *pass) decideExisting(c *planned) {
	m := c.memory
	if p.leaving(c) {
		return
	}
	if c.child.Mode != apply.Contribute && p.engine.optedOut(c.live) {
		c.result.Outcome, c.result.Reason, m.Proven = apply.OptedOut, apply.ReasonOptedOut, false
		return
	}
	known := m.UID == c.live.GetUID()
	m.Proven = m.Proven && known
	if !p.mayTake(c) {
		return
	}
	m.UID, c.uid = c.live.GetUID(), c.live.GetUID()
	if m.Ours != m.UID && c.member() && p.proves(c.live, "") {
		m.Ours = m.UID
	}
	if c.child.Mode == apply.Once {
		c.result.Reason = apply.ReasonExists
		m.Accept(c.hash, c.live.GetResourceVersion())
		return
	}
	if p.repeats(c, string(c.uid), others(p.engine.hasher, c)) {
		return
	}
	p.prove(c)
	p.lookFirst(c, known)
}

// leaving reports that the object is being deleted, by us or by others. It is
// applied again when it is gone.
func (p *pass) leaving(c *planned) bool {
	m := c.memory
	deleted := m.DeletedRecently(c.live.GetUID(), p.now, p.engine.opts.LagDeadline)
	if !deleted && (c.live.GetDeletionTimestamp() == nil || (c.child.Mode == apply.Contribute && c != p.self)) {
		return false
	}
	c.result.Outcome, c.result.Reason, c.requeue = apply.Blocked, apply.ReasonTerminating, confirmAfter
	m.Proven = false
	return true
}

// prepare compiles the intent for a request.
func (c *planned) prepare(p *pass, a action, why apply.Reason) {
	if c.content == nil {
		content, err := p.compile(c)
		if err != nil {
			c.fail(apply.Failed, apply.ReasonInvalid, err)
			return
		}
		c.content = content
	}
	c.action, c.result.Reason = a, why
}

// others is the hash of which other managers wrote to the object, and when.
// It survives [apply.ShortenManagedFields].
func others(h *intent.Hasher, c *planned) uint64 {
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
