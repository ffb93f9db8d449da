package engine

import (
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/reconcilekit/reconcilekit/reconcile/apply"
	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/applyset"
	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/intent"
)

// order is what the plan of a pass orders with After. Nil orders nothing.
type order struct {
	links map[*child]*link
	// deletions are carried out with the children, because they come after some of them.
	deletions []*link
}

// link is what a child comes after.
type link struct {
	after []target
	// step is when the child is written; placed reports that it is known.
	step   step
	placed bool
	// planned is the deletion for which the child stands while it waits, nil for a child that is applied. deletion is set when it no longer
	// waits, with the index of its result.
	planned  *apply.Deletion
	deletion *deletion
	result   int
}

// target is an object that others come after: a child, or an object that the plan deletes.
type target struct {
	id      applyset.ObjectID
	child   *child
	deletes bool
}

// step orders the writes of a pass: by the rank of the kinds, and then by the number of writes that come first.
type step struct{ rank, depth int }

func compareSteps(a, b step) int {
	if a.rank != b.rank {
		return a.rank - b.rank
	}
	return a.depth - b.depth
}

// next returns the step of an object of the rank that comes after an object of this step.
func (s step) next(rank int) step {
	if rank > s.rank {
		return step{rank: rank}
	}
	return step{rank: s.rank, depth: s.depth + 1}
}

// resolveOrder finds the objects that children come after. The recorded order is a part of the intent and of the identity of the plan.
func resolveOrder(p *pass) {
	if len(p.moved) == 0 && !slices.ContainsFunc(p.children, func(c *child) bool { return len(c.planned.After) > 0 }) {
		return
	}
	p.order = &order{links: make(map[*child]*link, len(p.children))}
	for i, c := range p.children {
		p.order.links[c] = &link{planned: p.moved[i]}
	}
	targets := orderTargets(p)
	for _, c := range p.children {
		if c.result.Outcome != "" {
			continue
		}
		after, err := targetsOf(p, c, targets)
		if err != nil {
			c.fail(apply.OutcomeFailed, apply.ReasonInvalid, err)
		}
		p.order.links[c].after = after
	}
	for _, c := range p.children {
		p.order.place(c, nil)
	}
	for _, c := range p.children {
		if l := p.order.links[c]; l.record(c) {
			c.hash += p.env.hasher.Text(c.after)
			p.identity += p.env.hasher.Text("ordered " + c.id.Text())
		}
	}
}

// orderTargets returns what a child can come after.
func orderTargets(p *pass) map[applyset.ObjectID]target {
	out := make(map[applyset.ObjectID]target, len(p.children))
	for i := range p.plan.Deletes {
		o := p.plan.Deletes[i].Object
		if gk, key, known := identify(p, o); known {
			id := applyset.ObjectID{GroupKind: gk, Key: key}
			if k, err := p.env.kinds.OfObject(o); err == nil && k.Namespaced && key.Namespace == "" {
				id.Key.Namespace = p.owner.GetNamespace()
			}
			out[orderKey(p, gk, key)] = target{id: id, deletes: true}
		}
	}
	for _, c := range p.children {
		gk, key := c.result.GVK.GroupKind(), c.result.Key
		if !gk.Empty() {
			out[orderKey(p, gk, key)] = target{id: applyset.ObjectID{GroupKind: gk, Key: key}, child: c, deletes: p.order.links[c].planned != nil}
		}
	}
	return out
}

// identify returns the kind and the name of an object, whether or not the API server serves the kind.
func identify(p *pass, o client.Object) (gk schema.GroupKind, key types.NamespacedName, known bool) {
	child := &apply.Child{Object: o}
	gvk := p.env.kinds.GVK(child)
	return gvk.GroupKind(), intent.Key(child), !gvk.Empty()
}

// orderKey identifies an object whose namespace may be missing.
func orderKey(p *pass, gk schema.GroupKind, key types.NamespacedName) applyset.ObjectID {
	if key.Namespace == "" {
		key.Namespace = p.owner.GetNamespace()
	}
	return applyset.ObjectID{GroupKind: gk, Key: key}
}

// targetsOf returns the objects that a child comes after. An object of a kind that is not installed has been left out of the plan, and of
// the order.
func targetsOf(p *pass, c *child, planned map[applyset.ObjectID]target) ([]target, error) {
	var out []target
	for i, o := range c.planned.After {
		gk, key, known := identify(p, o)
		if !known {
			return nil, intent.PlanError(fmt.Sprintf("child: After has a %T as object %d, want an object of a known kind", o, i+1))
		}
		t, ok := planned[orderKey(p, gk, key)]
		if _, absent := p.plan.Unknown[gk]; !ok && absent {
			continue
		}
		if !ok {
			return nil, intent.PlanError(fmt.Sprintf("child: it comes after %s, which the plan neither applies nor deletes: add it to the plan, "+
				"or leave it out of After", applyset.ObjectName(gk.Kind, key.Namespace, key.Name)))
		}
		out = append(out, t)
	}
	return out, nil
}

// place computes the step of a child. It fails the children of a cycle; path are the children that come after this one.
func (o *order) place(c *child, path []*child) {
	l := o.links[c]
	if at := slices.Index(path, c); at >= 0 {
		failCycle(path[at:])
		return
	}
	if l.placed {
		return
	}
	path = append(path, c)
	rank := 0
	if c.kind != nil {
		rank = c.kind.Rank
	}
	l.step.rank = rank
	for _, t := range l.after {
		if t.child == nil {
			continue
		}
		o.place(t.child, path)
		if s := o.links[t.child].step.next(rank); compareSteps(s, l.step) > 0 {
			l.step = s
		}
	}
	l.placed = true
}

// failCycle ends the children of a cycle.
func failCycle(cycle []*child) {
	names := make([]string, 0, len(cycle)+1)
	for _, c := range append(slices.Clone(cycle), cycle[0]) {
		names = append(names, c.describe())
	}
	err := intent.PlanError("child: After orders these objects in a cycle: " + strings.Join(names, " after ") + "; remove one After")
	for _, c := range cycle {
		c.fail(apply.OutcomeFailed, apply.ReasonInvalid, err)
	}
}

// record sets the value of the annotation of a child, and reports whether it has one. It has the objects that the engine deletes or
// gives back itself.
func (l *link) record(c *child) bool {
	if l.planned != nil || !c.member || c.memory == nil {
		return false
	}
	var ids []applyset.ObjectID
	for _, t := range l.after {
		if t.child != nil && !t.deletes && (t.child.member || isPartial(t.child.planned.Mode)) {
			ids = append(ids, t.id)
		}
	}
	slices.SortFunc(ids, applyset.CompareIDs)
	c.after = applyset.FormatContributions(slices.Compact(ids))
	return c.after != ""
}

// decideFirst decides the objects that a child comes after, and returns what the child waits for, empty for nothing.
func (o *order) decideFirst(p *pass, c *child) string {
	if o == nil || o.links[c] == nil {
		return ""
	}
	for _, t := range o.links[c].after {
		if t.child == nil {
			continue
		}
		if !holdsBack(p, t.child) {
			decideChild(p, t.child)
		}
		t.child.decided()
	}
	return o.unmet(p, o.links[c])
}

// decideDeletion decides the deletion for which a child stands and that no longer waits. From then on it is no child. It reports whether
// there is one.
func (o *order) decideDeletion(p *pass, c *child) bool {
	if o == nil || o.links[c] == nil || o.links[c].planned == nil {
		return false
	}
	l := o.links[c]
	l.deletion = &deletion{Deletion: l.planned, ordered: true}
	l.deletion.decide(p)
	c.result.Outcome = apply.OutcomeUnchanged
	p.children = slices.DeleteFunc(slices.Clone(p.children), func(other *child) bool { return other == c })
	p.identity -= childIdentity(p.env.hasher, c)
	l.result = len(p.deletions)
	p.deletions = append(p.deletions, l.deletion)
	o.deletions = append(o.deletions, l)
	return true
}

// unmet returns the first object that is not as planned yet, as text for WaitsUntil; empty for none. Before anything is sent, an object
// that is about to be written counts as written.
func (o *order) unmet(p *pass, l *link) string {
	for _, t := range l.after {
		switch {
		case t.deletes && !o.gone(p, t):
			return t.id.String() + " is gone"
		case !t.deletes && !asPlanned(t.child):
			return t.id.String() + " is applied"
		}
	}
	return ""
}

// gone reports whether an object that the plan deletes does not exist. If the children of a deleted owner stay, nothing is deleted.
func (o *order) gone(p *pass, t target) bool {
	if t.child != nil {
		if d := o.links[t.child].deletion; d != nil {
			return d.gone()
		}
		return t.child.result.Err == nil && t.child.result.Reason == apply.ReasonMissing
	}
	at := slices.IndexFunc(p.deletions, func(d *deletion) bool { return d.id == t.id })
	return at < 0 || p.deletions[at].gone()
}

// gone reports whether the object of a deletion does not exist.
func (d *deletion) gone() bool {
	return d.result.Err == nil && d.result.Verb == apply.VerbNone &&
		(d.result.Reason == apply.ReasonMissing || d.result.Reason == apply.ReasonNoMatch)
}

// asPlanned reports whether a child is as planned, or is about to be. A child that a user has excluded counts as planned.
func asPlanned(c *child) bool {
	switch c.result.Outcome {
	case apply.OutcomeUnchanged, apply.OutcomeCreated, apply.OutcomeUpdated, apply.OutcomeOptedOut:
		return c.result.Err == nil
	case apply.OutcomeDeleted, apply.OutcomePruned, apply.OutcomeReleased, apply.OutcomeContested, apply.OutcomeBlocked, apply.OutcomeWaiting,
		apply.OutcomeFailed:
	}
	return false
}

// write sends the requests of the children and the ordered deletions, step by step. A child or deletion after an object that is not as planned
// waits.
func (o *order) write(p *pass) {
	children, deletions := map[step][]*child{}, map[step][]*link{}
	var steps []step
	for _, c := range p.children {
		if l := o.links[c]; c.action != actionNone || len(l.after) > 0 {
			children[l.step] = append(children[l.step], c)
			steps = append(steps, l.step)
		}
	}
	for _, l := range o.deletions {
		deletions[l.step] = append(deletions[l.step], l)
		steps = append(steps, l.step)
	}
	slices.SortFunc(steps, compareSteps)
	for _, s := range slices.Compact(steps) {
		var ready []*child
		for _, c := range children[s] {
			if c.action != actionNone || c.result.Outcome == apply.OutcomeUnchanged {
				if what := o.unmet(p, o.links[c]); what != "" {
					p.waits(c, what)
				}
			}
			if c.action != actionNone {
				ready = append(ready, c)
			}
		}
		writeReady(p, ready)
		for _, l := range deletions[s] {
			o.delete(p, l)
		}
	}
}

// delete carries out an ordered deletion.
func (o *order) delete(p *pass, l *link) {
	d := l.deletion
	if d.result.Verb != apply.VerbDelete {
		return
	}
	if what := o.unmet(p, l); what != "" {
		d.result.Verb, d.result.Reason, d.result.Outcome, d.result.WaitsUntil = apply.VerbNone, apply.ReasonWaiting, apply.OutcomeWaiting, what
		p.plan.Hold = p.plan.Hold || p.finalize
	} else {
		carryOutDeletion(p, d)
	}
	p.result.Objects[l.result] = d.result
}
