package engine

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/reconcilekit/reconcilekit/reconcile/apply"
	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/memory"
)

// decideChild decides the request for a child, in stages. It reads the object and recalls its memory; either may settle the child. Then it
// checks that the object may be written, and compares the plan with the object. In the common case the resourceVersion and the hash of the
// intent prove that nothing has to be sent.
func decideChild(p *pass, c *child) {
	if c.result.Outcome != "" {
		return
	}
	c.result.Outcome, c.result.Reason = apply.OutcomeUnchanged, apply.ReasonUpToDate
	if err := readCached(p, c); err != nil {
		c.fail(apply.OutcomeFailed, apply.ReasonReadFailed, err)
		return
	}
	recallChild(p, c)
	if c.recall.Hidden {
		if waitsForCache(p, c) {
			return
		}
		if err := readLive(p, c); err != nil {
			c.fail(apply.OutcomeFailed, apply.ReasonReadFailed, err)
			return
		}
	}
	switch r := &c.recall; {
	case c.live == nil:
		decideMissing(p, c)
	case r.Same && r.Contest == nil:
		noteShape(p, c)
	case r.Same && r.Held != nil:
		c.contested = r.Held.Fields
		endUnchanged(p, c)
	case !c.fresh && c.planned.Mode != apply.Once && !hasManagedFields(c.live):
		decideStripped(p, c)
	default:
		decideExisting(p, c)
	}
}

// recallChild recalls the memory that applies to the live object.
func recallChild(p *pass, c *child) {
	c.recall = c.memory.Recall(c.live, memory.Look{
		Intent: c.hash, Now: p.now, Deadline: p.env.options.LagDeadline, Trust: p.env.options.ContestInterval, Live: c.fresh,
	})
}

func readCached(p *pass, c *child) error {
	if c == p.ownerChild {
		c.live = ownerMetadata(p)
		return nil
	}
	o := c.kind.NewObject()
	err := p.env.client.Get(p.ctx, c.id.Key, o, p.env.cached...)
	return noteRead(c, o, err)
}

// readLive reads the object from the API server and remembers its version, so that an older object in the cache is recognised as stale.
func readLive(p *pass, c *child) error {
	c.free()
	c.fresh, c.sentOnce = true, nil
	c.memory.Shown()
	o := c.kind.NewObject()
	err := noteRead(c, o, p.env.live.Get(p.ctx, c.id.Key, o))
	if c == p.ownerChild && c.live != nil && c.live.GetUID() != p.owner.GetUID() {
		c.live = nil // another object of this name
	}
	if c.live != nil {
		c.memory.Read(c.live, p.now)
	}
	recallChild(p, c)
	return err
}

func noteRead(c *child, o client.Object, err error) error {
	if err == nil {
		c.live = o
		return nil
	}
	c.kind.Release(o)
	return client.IgnoreNotFound(err)
}

// waitsForCache handles a cache that does not show the engine's last write yet. It reports whether the child is settled for this pass. If
// the plan has changed since, the child is decided from a live read.
func waitsForCache(p *pass, c *child) bool {
	r := &c.recall
	if r.Wait <= 0 || !r.Proven {
		return false
	}
	c.requeue, c.result.Reason = r.Wait, apply.ReasonStaleCache
	if r.Contest != nil {
		c.contested = r.Contest.Fields
		reportContest(p, c)
	}
	return true
}

// decideStripped decides a child whose managedFields the cache strips. If the visible planned fields are unchanged since the last live
// read, its result still holds. Otherwise the object is read live. Drift in parts that the cache strips is not repaired before that.
func decideStripped(p *pass, c *child) {
	if isTerminating(p, c) {
		return
	}
	m := c.memory
	if c.recall.Failed {
		if f := m.RefusedIn(c.live.GetResourceVersion()); f != nil && failedBefore(p, c, f.UID, f.Others) {
			return
		}
	}
	seen, err := shape(p, c)
	if err != nil {
		c.fail(apply.OutcomeFailed, apply.ReasonInvalid, err)
		return
	}
	version := c.live.GetResourceVersion()
	if m.ProvesShape(c.hash, seen) {
		m.StillIn(version)
		return
	}
	if decideLive(p, c); c.live == nil {
		return
	}
	noteStripped(p, c)
	if m.Proven() && c.action == actionNone && c.live.GetResourceVersion() == version {
		m.Shows(seen)
		m.Shown()
	}
}

// noteShape remembers the cached values of the fields that have just been applied, for a cache that strips managedFields.
func noteShape(p *pass, c *child) {
	if c.planned.Mode == apply.Once || c.memory.ShapeKnown() || hasManagedFields(c.live) {
		return
	}
	if seen, err := shape(p, c); err == nil {
		c.memory.Shows(seen)
	}
}

// hasManagedFields reports whether an object has managedFields. It does not decode those of an unstructured object.
func hasManagedFields(o client.Object) bool {
	if u, ok := o.(*unstructured.Unstructured); ok {
		entries, _, _ := unstructured.NestedFieldNoCopy(u.Object, "metadata", "managedFields")
		list, _ := entries.([]any)
		return len(list) > 0
	}
	return len(o.GetManagedFields()) > 0
}

// shape returns the hash of the live values at the paths of the intent.
func shape(p *pass, c *child) (uint64, error) {
	content, err := compileContent(p, c)
	if err != nil {
		return 0, err
	}
	live, err := p.env.encoder.Live(c.live)
	if err != nil {
		return 0, fmt.Errorf("encode the live object: %w", err)
	}
	noteUnwanted(c, live)
	return p.env.hasher.Shape(c.kind.Schema, content, live) + uint64(len(c.unwanted)), nil
}

// noteStripped logs once per kind that the cache strips managedFields.
func noteStripped(p *pass, c *child) {
	if len(c.live.GetManagedFields()) == 0 {
		return
	}
	if _, known := p.env.stripped.LoadOrStore(c.kind, struct{}{}); !known {
		log.FromContext(p.ctx).Info("the cache strips managedFields: drift of what it strips besides is not seen, and after a start "+
			"and after each write one read per child goes to the API server; the transform of this package keeps what is needed",
			"kind", c.kind.GVK.String())
	}
}

func decideMissing(p *pass, c *child) {
	if deletedByOthers(p, c) || failedBefore(p, c, "", 0) {
		return
	}
	c.result.Reason = apply.ReasonMissing
	switch c.planned.Mode {
	case apply.Contribute:
		c.fail(apply.OutcomeBlocked, apply.ReasonMissing, apierrors.NewNotFound(resourceOf(c.kind.GVK), c.id.Key.Name))
		return
	case apply.Once:
		if !c.planned.Existing {
			prepareWrite(c, p, actionCreate, apply.ReasonMissing)
		}
		return
	case apply.Own, apply.Shared, apply.Retained:
	}
	if p.dry && !c.fresh {
		decideLive(p, c) // a write would find out
		return
	}
	prepareWrite(c, p, actionApply, apply.ReasonMissing)
}

// failedBefore reports whether the same request has failed before and would fail again.
func failedBefore(p *pass, c *child, uid types.UID, others uint64) bool {
	if !c.recall.Failed {
		return false
	}
	f := c.memory.FailedIn(memory.Situation{Intent: c.hash, UID: uid, Others: others}, p.now)
	if f == nil || allowedSince(p, f.Err) {
		return false
	}
	c.fail(f.Outcome, apply.ReasonBackoff, f.Err)
	c.requeue = f.Until.Sub(p.now)
	return true
}

// allowedSince reports whether the owner now has the annotation that the error asked for.
func allowedSince(p *pass, err error) bool {
	var blocked *apply.RecreateBlockedError
	return errors.As(err, &blocked) && blocked.Token == p.allowPrune
}

// decideExisting decides an object that has changed, or that this process has not seen before.
func decideExisting(p *pass, c *child) {
	if isTerminating(p, c) {
		return
	}
	if !claimChild(p, c) {
		return
	}
	if c.planned.Mode == apply.Once {
		c.result.Reason = apply.ReasonExists
		if lacksMarks(p, c) {
			return
		}
		c.memory.Accept(c.hash, c.live.GetResourceVersion())
		return
	}
	if c.recall.Failed && failedBefore(p, c, c.uid, otherManagers(p.env.hasher, c)) {
		return
	}
	proveUnchanged(p, c)
	if first := !c.recall.Known && !c.reach; first && c.action != actionNone && c.action != actionCreate {
		verifyFirstWrite(p, c)
	}
}

// isTerminating reports whether the object is being deleted. It is applied again when it is gone.
func isTerminating(p *pass, c *child) bool {
	if !c.recall.Deleted && (c.live.GetDeletionTimestamp() == nil || partOfAnother(p, c)) {
		return false
	}
	c.result.Outcome, c.result.Reason, c.requeue = apply.OutcomeBlocked, apply.ReasonTerminating, confirmAfter
	if c.live.GetDeletionTimestamp() != nil {
		c.result.Finalizers = slices.Clone(c.live.GetFinalizers())
	}
	c.memory.ForgetProof()
	return true
}

// partOfAnother reports whether the child is a part of an object other than the owner. Such a part stays planned while that object is
// being deleted.
func partOfAnother(p *pass, c *child) bool {
	return c.planned.Mode == apply.Contribute && c != p.ownerChild
}

// prepareWrite compiles the intent for a request.
func prepareWrite(c *child, p *pass, a action, why apply.Reason) {
	if c.content == nil {
		content, err := compileContent(p, c)
		if err != nil {
			c.fail(apply.OutcomeFailed, apply.ReasonInvalid, err)
			return
		}
		c.content = content
	}
	c.action, c.result.Reason = a, why
}

func resourceOf(gvk schema.GroupVersionKind) schema.GroupResource {
	return schema.GroupResource{Group: gvk.Group, Resource: strings.ToLower(gvk.Kind)}
}
