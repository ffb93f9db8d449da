package decide

import (
	"fmt"
	"hash/maphash"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/reconcilekit/reconcilekit/reconcile/apply"
	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/compare"
	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/managedfields"
	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/memory"
	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/pass"
	"github.com/reconcilekit/reconcilekit/reconcile/internal/words"
)

// prove decides whether an existing object has to be patched: not when our
// fields and their values are those after the last apply of the same intent,
// and not when they are exactly the intent's.
func prove(p *pass.Pass, c *pass.Child) {
	content, err := compile(p, c)
	if err != nil {
		c.Fail(apply.Failed, words.ReasonInvalid, err)
		return
	}
	c.Content = content
	live, err := p.Env.Encoder.Live(c.Live)
	if err != nil {
		c.Fail(apply.Failed, words.ReasonReadFailed, fmt.Errorf("encode the live object: %w", err))
		return
	}
	if FormerManagers(p, c) {
		prepare(c, p, pass.ActionMigrate, words.ReasonFormerManager)
		return
	}
	if LostEntry(c, c.Live.GetManagedFields()) && c.Memory.Owned().Set().Intersects(live) {
		applyRules(c, c.Memory.Owned().Set(), live)
		prepare(c, p, pass.ActionMigrate, words.ReasonOwnershipLost)
		return
	}
	proveFields(p, c, live)
}

// proveFields compares field by field what our manager owns.
func proveFields(p *pass.Pass, c *pass.Child, live map[string]any) {
	set, version := OwnFields(c)
	if version == "" {
		logForeign(p, c)
	}
	left := applyRules(c, set, live)
	leaveContested(p, c, set, live)
	NoteUnwanted(c, live)
	m := c.Memory
	projection := Projection(p, c, left, live)
	same := version == c.Kind.GVK.GroupVersion().String() || (version == "" && len(c.Content) == 0)
	if same && m.ProvesProjection(c.Hash, projection) {
		if Removes(p, c) {
			prepare(c, p, pass.ActionRemove, difference(c))
			return
		}
		m.StillIn(c.Live.GetResourceVersion())
		EndUnchanged(p, c)
		return
	}
	if same && Agrees(c, left, live) {
		if Removes(p, c) {
			prepare(c, p, pass.ActionRemove, difference(c))
			return
		}
		m.Accept(c.Hash, c.Live.GetResourceVersion())
		m.Projects(projection)
		m.Owns(memory.Remembered(managedfields.Entry(c.Live.GetManagedFields(), c.Manager)))
		EndUnchanged(p, c)
		return
	}
	mustApply(p, c, set, left, live)
}

// Projection is the hash of our fields in the live object, and of what is left
// of the content where that is not all of the plan.
func Projection(p *pass.Pass, c *pass.Child, set *managedfields.Set, live map[string]any) uint64 {
	h := p.Env.Hasher
	projected := h.Projection(c.Kind.Schema, set, c.Content, live)
	if len(c.Rules) > 0 || len(c.Contested) > 0 {
		projected += h.Sum(func(s *maphash.Hash) { h.Content(s, c.Content) })
	}
	return projected
}

// WithoutCreateOnly takes the fields that are sent once out of the content that
// was sent, and out of the set.
func WithoutCreateOnly(c *pass.Child, set *managedfields.Set) *managedfields.Set {
	for i := range c.Rules {
		if rule := &c.Rules[i]; rule.Policy == words.CreateOnlyField {
			rule.Path.Remove(c.Content)
			set = rule.Path.Without(set)
		}
	}
	return set
}

// OwnFields is what our manager owns in the live object, and in which version
// of the kind it says so. Nothing has no version.
func OwnFields(c *pass.Child) (*managedfields.Set, string) {
	entry := managedfields.Entry(c.Live.GetManagedFields(), c.Manager)
	if entry == nil || entry.FieldsV1 == nil {
		return &managedfields.Set{}, ""
	}
	set, err := managedfields.Parse(entry.FieldsV1.GetRawBytes())
	if err != nil {
		return &managedfields.Set{}, ""
	}
	return set, entry.APIVersion
}

// Agrees reports whether an apply of the content would change nothing.
func Agrees(c *pass.Child, set *managedfields.Set, live map[string]any) bool {
	comparison := compare.Comparison{Schema: c.Kind.Schema}
	comparison.Object(set, c.Content, live)
	return !comparison.Different()
}

// difference is why an object that exists has to be patched.
func difference(c *pass.Child) apply.Reason {
	switch m := c.Memory; {
	case m.LastIntent() == 0:
		return words.ReasonDiffers
	case m.LastIntent() != c.Hash:
		return words.ReasonPlanChanged
	}
	return words.ReasonDrift
}

// mustApply plans the patch, and whether it takes fields from others: from
// those that changed them by update, as a person with kubectl edit does, but
// never from another manager that applies, and never in a contribution.
func mustApply(p *pass.Pass, c *pass.Child, set, left *managedfields.Set, live map[string]any) {
	if fightsBack(p, c, set, left, live) {
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
		c.Fail(apply.Failed, words.ReasonReadFailed, err)
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
		set, err := managedfields.Parse(e.FieldsV1.GetRawBytes())
		if err != nil || set.Intersects(c.Content) {
			return true
		}
	}
	return false
}
