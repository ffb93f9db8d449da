package engine

import (
	"errors"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/reconcilekit/reconcilekit/reconcile/apply"
	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/content"
	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/managedfields"
)

// maxTries bounds the requests of one child in a pass: what the API server
// refuses is looked at, decided anew and tried again.
const maxTries = 4

// onlyCreate is a resourceVersion that no object has. An apply with it creates
// an object, as the version of a missing one is not looked at, and is refused
// by one that exists.
const onlyCreate = "1"

var errUnsettled = errors.New("it changes faster than it can be looked at")

// patch applies the intent, first taking an adopted object from its
// controller.
func (p *pass) patch(c *planned) error {
	if err := p.takeFromController(c); err != nil {
		return err
	}
	answer, err := p.apply(c)
	if err != nil || answer == nil {
		return err
	}
	p.patched(c, answer)
	return p.removeRest(c, answer)
}

// apply sends the intent and follows what the server says about it. It returns
// neither an answer nor an error when it turns out that nothing is to be sent;
// the result of the child says why. A first write can only create. A forced one
// hits the version that was decided about and no other, so that it takes
// nothing that was not looked at.
func (p *pass) apply(c *planned, opts ...client.PatchOption) (client.Object, error) {
	for range maxTries {
		data, err := content.PinnedBody(c.content, c.kind.GVK, c.id.Key, c.uid, c.pinned())
		if err != nil {
			return nil, fmt.Errorf("encode: %w", err)
		}
		answer, err := p.engine.apply(p.ctx, c, data, c.force, opts...)
		if err == nil {
			return answer, nil
		}
		fields := conflicts(err)
		switch {
		case len(fields) > 0 && c.live != nil:
			p.concede(c, fields)
		case apierrors.IsConflict(err):
			p.again(c)
		default:
			return nil, err
		}
		if c.action == actionNone {
			return nil, nil
		}
	}
	return nil, errUnsettled
}

// pinned is the resourceVersion that an apply must find.
func (c *planned) pinned() string {
	switch {
	case c.live == nil && c.uid == "":
		return onlyCreate
	case c.live != nil && (c.force || c.kind.Metadata):
		return c.live.GetResourceVersion()
	}
	return ""
}

// again decides anew about an object that is not as it was thought to be.
func (p *pass) again(c *planned) {
	verb := c.result.Verb
	c.action, c.force, c.content, c.uid, c.contested = actionNone, false, nil, "", nil
	c.left, c.unwanted, c.lostAbsent = nil, nil, nil
	c.result.Outcome, c.result.Reason, c.result.Err = apply.Unchanged, apply.ReasonUpToDate, nil
	c.memory.Proven = false
	p.decideFresh(c)
	if c.decided(); c.action == actionNone && c.result.Err == nil {
		c.result.Verb = verb // what was decided and turned out not to be needed
	}
}

// concede follows a refusal field by field: a seed is left to whoever has it,
// what was changed by update and what the plan forces is taken, and the rest
// is left to the managers that apply it.
func (p *pass) concede(c *planned, fields []conflict) {
	live, err := p.engine.encoder.Live(c.live)
	if err != nil {
		c.failed(apply.Failed, err)
		return
	}
	set, _ := p.ownFields(c)
	var contested []apply.ContestedField
	again := false
	for _, f := range fields {
		switch policy := c.policyOf(f.Path); {
		case policy == apply.SeedField || policy == apply.CreateOnlyField:
			again = c.leave(f.Path, nil, nil) || again
			c.left = append(c.left, f.Path)
		case policy == apply.ForceField || (f.update && (c.child.Mode != apply.Contribute || p.engine.ours(f.Manager))):
			again = again || !c.force
			c.force = true
		default:
			contested = append(contested, f.ContestedField)
			again = c.leave(f.Path, nil, nil) || again
		}
	}
	if len(contested) > 0 {
		p.contest(c, contested)
	}
	if again && len(c.content) > 0 && !c.agrees(set, live) {
		return
	}
	c.memory.Accept(c.hash, c.live.GetResourceVersion())
	c.memory.Projection = p.projection(c, c.withoutSettled(set), live)
	c.action = actionNone
	p.stand(c)
}

// policyOf is what the plan says about a field that the server names.
func (c *planned) policyOf(text string) apply.FieldPolicy {
	path, ok := managedfields.ServerPath(c.content, text)
	if !ok {
		return apply.OwnField
	}
	policy, depth := apply.OwnField, 0
	for _, rule := range c.rules {
		if n := rule.Path.Len(); n >= depth && rule.Path.Contains(path) {
			policy, depth = rule.Policy, n
		}
	}
	return policy
}

// patched notes an answer to an apply.
func (p *pass) patched(c *planned, answer client.Object) {
	switch {
	case c.live == nil && c.uid == "":
		c.result.Outcome = apply.Created
		c.memory.Made(p.now)
	case c.live == nil:
		c.result.Outcome = apply.Updated
	case c.live.GetResourceVersion() != answer.GetResourceVersion():
		c.result.Outcome, c.result.Fields = apply.Updated, p.changes(c)
	}
	if c == p.self {
		p.ownerApplied(c.live.GetResourceVersion(), answer)
	}
	p.applied(c, answer)
	p.reportContest(c)
}

// migrated applies after the fields of former managers have become ours. Where
// rules depend on what is ours, that is looked at again.
func (p *pass) migrated(c *planned) error {
	reason := c.result.Reason
	if len(c.child.Fields) > 0 {
		if p.again(c); c.action == actionNone {
			return nil
		}
	}
	err := p.patch(c)
	if err == nil && c.result.Err == nil {
		c.result.Reason = reason // whatever the version that is now there was met with
	}
	return err
}
