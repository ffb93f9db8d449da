package engine

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/reconcilekit/reconcilekit/reconcile/apply"
	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/fieldset"
	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/memory"
)

// proveUnchanged decides whether an existing object has to be patched. It does not if the owned fields and their values are the same as
// after the last apply of this intent, or if they equal the intent.
func proveUnchanged(p *pass, c *child) {
	var err error
	if c.content, err = compileContent(p, c); err != nil {
		c.fail(apply.OutcomeFailed, apply.ReasonInvalid, err)
		return
	}
	if c.observed, err = fieldset.Observe(p.env.encoder, c.live, c.manager); err != nil {
		c.fail(apply.OutcomeFailed, apply.ReasonReadFailed, err)
		return
	}
	if hasFormerManagers(p, c) {
		prepareWrite(c, p, actionMigrate, apply.ReasonFormerManager)
		return
	}
	if (lostAll(c) || lostPart(c, p.owner.GetUID())) && !heldByOthers(p, c) && repairs(p, c) <= memory.MaxRepairs {
		applyRules(p, c, c.recall.Owned.Set(), c.observed.Content)
		prepareWrite(c, p, actionMigrate, apply.ReasonOwnershipLost)
		return
	}
	proveFields(p, c)
}

// proveFields compares the owned fields one by one.
func proveFields(p *pass, c *child) {
	set, live := c.observed.Own.Set, c.observed.Content
	if c.observed.Own.Version == "" {
		logForeign(p, c)
	}
	left := applyRules(p, c, set, live)
	leaveContested(p, c, set, live)
	noteUnwanted(c, live)
	version := c.kind.GVK.GroupVersion().String()
	if c.observed.Own.Version != version && (c.observed.Own.Version != "" || len(c.content) > 0) {
		mustApply(p, c, left)
		return
	}
	var known uint64
	if c.recall.Proven {
		known = c.recall.Projection
	}
	verdict := p.env.hasher.Compare(subjectOf(p, c, c.live, left, live), known)
	switch {
	case !verdict.Known && !verdict.Agrees:
		mustApply(p, c, left)
	case removesFields(p, c):
		prepareWrite(c, p, actionRemove, differenceReason(c))
	default:
		if !verdict.Known {
			c.memory.Proved(memory.Proof{
				Intent: c.hash, Version: c.live.GetResourceVersion(), Projection: verdict.Projection, Owned: memory.Remembered(c.observed.Own.Entry, p.owner.GetUID()),
			})
		}
		if reportContest(p, c) {
			c.memory.StillIn(c.live.GetResourceVersion())
			return
		}
		c.memory.Right(c.live.GetResourceVersion(), p.now)
	}
}

// subjectOf returns the compared part of the child: the rest of the owned fields.
func subjectOf(p *pass, c *child, o client.Object, set *fieldset.Set, live map[string]any) fieldset.Subject {
	return fieldset.Subject{
		Others: func() uint64 { return othersIn(p.env.hasher, o.GetManagedFields(), c.manager) },
		Schema: c.kind.Schema, Set: set, Intent: c.content, Live: live, Part: len(c.rules) > 0 || len(c.contested) > 0,
	}
}

// projectionOf returns the hash of the owned fields in the live object. If the content is only a part of the plan, the hash includes the
// content.
func projectionOf(p *pass, c *child, set *fieldset.Set, live map[string]any) uint64 {
	return p.env.hasher.ProjectionOf(subjectOf(p, c, c.live, set, live))
}

// pathsSentOnce returns the paths of the fields that are sent once.
func pathsSentOnce(c *child) []fieldset.Path {
	var paths []fieldset.Path
	for i := range c.rules {
		if rule := &c.rules[i]; rule.Policy == apply.FieldCreateOnly {
			paths = append(paths, rule.Path)
		}
	}
	return paths
}

// projectionLeft is [projectionOf] without the fields that are sent once, which are removed from the sent content.
func projectionLeft(p *pass, c *child, set *fieldset.Set, live map[string]any) uint64 {
	s := subjectOf(p, c, c.live, set, live)
	s.Leave(pathsSentOnce(c))
	return p.env.hasher.ProjectionOf(s)
}

// agrees reports whether an apply of the content would change nothing.
func agrees(c *child, set *fieldset.Set, live map[string]any) bool {
	comparison := fieldset.Comparison{Schema: c.kind.Schema}
	comparison.Object(set, c.content, live)
	return !comparison.Different()
}

// differenceReason returns why an existing object has to be patched.
func differenceReason(c *child) apply.Reason {
	switch c.recall.LastIntent {
	case 0:
		return apply.ReasonDiffers
	case c.hash:
		return apply.ReasonDrift
	default:
		return apply.ReasonPlanChanged
	}
}

// mustApply plans the patch and decides whether it takes fields from other managers. It takes fields that were changed by update, as by
// kubectl edit, but never from another manager that applies, and never in a contribution.
func mustApply(p *pass, c *child, left *fieldset.Set) {
	set, live := c.observed.Own.Set, c.observed.Content
	if c.recall.Proven && countRepairs(p, c, set, left, live) {
		endUnchanged(p, c)
		return
	}
	if !restoreSentOnce(c, set, live) && !c.fresh {
		decideLive(p, c) // the cache does not show all owned fields
		return
	}
	c.force = c.planned.Mode != apply.Contribute && !hasOtherAppliers(c)
	prepareWrite(c, p, actionApply, differenceReason(c))
}

// decideLive decides again from a live read.
func decideLive(p *pass, c *child) {
	if err := readLive(p, c); err != nil {
		c.fail(apply.OutcomeFailed, apply.ReasonReadFailed, err)
		return
	}
	if c.live == nil {
		decideMissing(p, c)
		return
	}
	decideExisting(p, c)
}

// hasOtherAppliers reports whether another manager that applies may own a planned field.
func hasOtherAppliers(c *child) bool {
	entries := c.live.GetManagedFields()
	for i := range entries {
		e := &entries[i]
		if e.Operation != metav1.ManagedFieldsOperationApply || e.Subresource != "" || e.Manager == c.manager {
			continue
		}
		if e.FieldsV1 == nil {
			return true // shortened
		}
		set, err := fieldset.Parse(e.FieldsV1.GetRawBytes())
		if err != nil || set.Intersects(c.content) {
			return true
		}
	}
	return false
}
