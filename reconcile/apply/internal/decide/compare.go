package decide

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/reconcilekit/reconcilekit/reconcile/apply"
	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/fieldset"
	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/memory"
	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/pass"
)

// prove decides whether an existing object has to be patched: not when our
// fields and their values are those after the last apply of the same intent,
// and not when they are exactly the intent's.
func prove(p *pass.Pass, c *pass.Child) {
	var err error
	if c.Content, err = compile(p, c); err != nil {
		c.Fail(apply.OutcomeFailed, apply.ReasonInvalid, err)
		return
	}
	if c.Observed, err = fieldset.Observe(p.Env.Encoder, c.Live, c.Manager); err != nil {
		c.Fail(apply.OutcomeFailed, apply.ReasonReadFailed, err)
		return
	}
	if FormerManagers(p, c) {
		prepare(c, p, pass.ActionMigrate, apply.ReasonFormerManager)
		return
	}
	if (lostAll(c) || lostPart(c, p.Owner.GetUID())) && !held(p, c) && repairs(p, c) <= memory.MaxRepairs {
		applyRules(p, c, c.Recall.Owned.Set(), c.Observed.Content)
		prepare(c, p, pass.ActionMigrate, apply.ReasonOwnershipLost)
		return
	}
	proveFields(p, c)
}

// proveFields compares field by field what our manager owns.
func proveFields(p *pass.Pass, c *pass.Child) {
	set, live := c.Observed.Own.Set, c.Observed.Content
	if c.Observed.Own.Version == "" {
		logForeign(p, c)
	}
	left := applyRules(p, c, set, live)
	leaveContested(p, c, set, live)
	NoteUnwanted(c, live)
	version := c.Kind.GVK.GroupVersion().String()
	if c.Observed.Own.Version != version && (c.Observed.Own.Version != "" || len(c.Content) > 0) {
		mustApply(p, c, left)
		return
	}
	var known uint64
	if c.Recall.Proven {
		known = c.Recall.Projection
	}
	verdict := p.Env.Hasher.Compare(subject(p, c, c.Live, left, live), known)
	switch {
	case !verdict.Known && !verdict.Agrees:
		mustApply(p, c, left)
	case Removes(p, c):
		prepare(c, p, pass.ActionRemove, difference(c))
	default:
		if !verdict.Known {
			c.Memory.Proved(memory.Proof{
				Intent: c.Hash, Version: c.Live.GetResourceVersion(), Projection: verdict.Projection, Owned: memory.Remembered(c.Observed.Own.Entry, p.Owner.GetUID()),
			})
		}
		if ReportContest(p, c) {
			c.Memory.StillIn(c.Live.GetResourceVersion())
			return
		}
		c.Memory.Right(c.Live.GetResourceVersion(), p.Now)
	}
}

// subject is what of the child is compared: the part of our fields that is left.
func subject(p *pass.Pass, c *pass.Child, o client.Object, set *fieldset.Set, live map[string]any) fieldset.Subject {
	return fieldset.Subject{
		Others: func() uint64 { return othersIn(p.Env.Hasher, o.GetManagedFields(), c.Manager) },
		Schema: c.Kind.Schema, Set: set, Intent: c.Content, Live: live, Part: len(c.Rules) > 0 || len(c.Contested) > 0,
	}
}

// Projection is the hash of our fields in the live object, and of what is left
// of the content where that is not all of the plan.
func Projection(p *pass.Pass, c *pass.Child, set *fieldset.Set, live map[string]any) uint64 {
	return p.Env.Hasher.ProjectionOf(subject(p, c, c.Live, set, live))
}

// sentOnce are the paths of the fields that are sent once.
func sentOnce(c *pass.Child) []fieldset.Path {
	var paths []fieldset.Path
	for i := range c.Rules {
		if rule := &c.Rules[i]; rule.Policy == apply.FieldCreateOnly {
			paths = append(paths, rule.Path)
		}
	}
	return paths
}

// ProjectionLeft is the [Projection] without the fields that are sent once, which
// leave the content that was sent.
func ProjectionLeft(p *pass.Pass, c *pass.Child, set *fieldset.Set, live map[string]any) uint64 {
	s := subject(p, c, c.Live, set, live)
	s.Leave(sentOnce(c))
	return p.Env.Hasher.ProjectionOf(s)
}

// Agrees reports whether an apply of the content would change nothing.
func Agrees(c *pass.Child, set *fieldset.Set, live map[string]any) bool {
	comparison := fieldset.Comparison{Schema: c.Kind.Schema}
	comparison.Object(set, c.Content, live)
	return !comparison.Different()
}

// difference is why an object that exists has to be patched.
func difference(c *pass.Child) apply.Reason {
	switch c.Recall.LastIntent {
	case 0:
		return apply.ReasonDiffers
	case c.Hash:
		return apply.ReasonDrift
	default:
		return apply.ReasonPlanChanged
	}
}

// mustApply plans the patch, and whether it takes fields from others: from
// those that changed them by update, as a person with kubectl edit does, but
// never from another manager that applies, and never in a contribution.
func mustApply(p *pass.Pass, c *pass.Child, left *fieldset.Set) {
	set, live := c.Observed.Own.Set, c.Observed.Content
	if c.Recall.Proven && fightsBack(p, c, set, left, live) {
		EndUnchanged(p, c)
		return
	}
	if !restoreSentOnce(c, set, live) && !c.Fresh {
		Live(p, c) // the cache does not show all that is ours
		return
	}
	c.Force = c.Planned.Mode != apply.Contribute && !appliers(c)
	prepare(c, p, pass.ActionApply, difference(c))
}

// Live decides anew with what the API server has.
func Live(p *pass.Pass, c *pass.Child) {
	if err := readLive(p, c); err != nil {
		c.Fail(apply.OutcomeFailed, apply.ReasonReadFailed, err)
		return
	}
	if c.Live == nil {
		decideMissing(p, c)
		return
	}
	decideExisting(p, c)
}

// appliers reports whether another manager that applies may own a planned field.
func appliers(c *pass.Child) bool {
	entries := c.Live.GetManagedFields()
	for i := range entries {
		e := &entries[i]
		if e.Operation != metav1.ManagedFieldsOperationApply || e.Subresource != "" || e.Manager == c.Manager {
			continue
		}
		if e.FieldsV1 == nil {
			return true // shortened
		}
		set, err := fieldset.Parse(e.FieldsV1.GetRawBytes())
		if err != nil || set.Intersects(c.Content) {
			return true
		}
	}
	return false
}
