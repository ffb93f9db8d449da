package engine

import (
	"errors"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/reconcilekit/reconcilekit/reconcile/apply"
	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/content"
	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/fieldset"
)

// maxTries is the maximum number of requests of one child in a pass. After a refusal the child is read, decided and written again.
const maxTries = 4

// onlyCreate is a resourceVersion that no object has. An apply with it creates a missing object, because its version is not checked, and
// is refused by an existing one.
const onlyCreate = "1"

var errUnsettled = errors.New("it changes faster than it can be looked at")

// patchChild applies the intent. It first removes the controller reference of an adopted object.
func patchChild(p *pass, c *child) error {
	if err := takeFromController(p, c); err != nil {
		return err
	}
	if given, err := giveUpIgnored(p, c); err != nil {
		return err
	} else if given {
		return applyRest(p, c)
	}
	if err := leaveChildEmpty(p, c); err != nil || c.action == actionNone {
		return err
	}
	answer, err := applyChild(p, c)
	if err != nil || answer == nil {
		return err
	}
	notePatched(p, c, answer)
	if err := renewDefaults(p, c, answer); err != nil || c.answer != answer {
		return err
	}
	if len(c.rules) == 0 {
		return nil
	}
	return removeRest(p, c, answer)
}

// applyChild sends the intent and handles the response. It returns neither an answer nor an error if nothing has to be sent; the result of
// the child has the reason. A first write can only create the object. A forced write is pinned to the version that was decided on, so that
// it takes no unseen changes.
func applyChild(p *pass, c *child, opts ...client.PatchOption) (client.Object, error) {
	for range maxTries {
		data, err := content.PinnedBody(c.content, c.kind.GVK, c.id.Key, c.uid, pinned(c))
		if err != nil {
			return nil, fmt.Errorf("encode: %w", err)
		}
		answer, err := sendApply(p.ctx, p.env, c, data, c.force, opts...)
		if err == nil {
			return answer, nil
		}
		fields := conflictsOf(err)
		switch {
		case len(fields) > 0 && c.live != nil:
			resolveConflicts(p, c, fields)
		case apierrors.IsConflict(err):
			decideChildAgain(p, c)
		default:
			return nil, err
		}
		if c.action == actionNone {
			return nil, nil
		}
	}
	return nil, errUnsettled
}

// pinned returns the resourceVersion precondition of an apply.
func pinned(c *child) string {
	switch {
	case c.live == nil && c.uid == "":
		return onlyCreate
	case c.live != nil && (c.force || c.kind.Metadata):
		return c.live.GetResourceVersion()
	}
	return ""
}

// resolveConflicts resolves a refusal field by field: seeds are left to their owner, fields that were changed by update or that the plan
// forces are taken, and other fields are left to the managers that apply them.
func resolveConflicts(p *pass, c *child, fields []conflict) {
	live, err := p.env.encoder.Live(c.live)
	if err != nil {
		c.failed(apply.OutcomeFailed, err)
		return
	}
	set := c.observed.Own.Set
	c.observed = fieldset.Observation{} // the content may share values with it, and is changed here
	defer remember(p, c)
	var contested []apply.ContestedField
	again := false
	for _, f := range fields {
		switch policy := policyOf(c, f.Path); {
		case policy == apply.FieldSeed || policy == apply.FieldCreateOnly:
			again = c.leaveField(f.Path, nil, nil) || again
			c.leftSeeds = append(c.leftSeeds, f.Path)
		case policy == apply.FieldForce || (f.update && (c.planned.Mode != apply.Contribute || p.env.ours(f.Manager))):
			again = again || !c.force
			c.force = true
		default:
			contested = append(contested, f.ContestedField)
			again = c.leaveField(f.Path, nil, nil) || again
		}
	}
	if len(contested) > 0 {
		c.leaveToOthers(contested)
	}
	if again && len(c.content) > 0 && !c.agrees(set, live) {
		return
	}
	c.memory.Accept(c.hash, c.live.GetResourceVersion())
	c.memory.Projects(c.projectionLeft(set, live))
	c.action = actionNone
	c.endUnchanged()
}

// policyOf returns the field policy for a path in the notation of the API server.
func policyOf(c *child, text string) apply.FieldPolicy {
	path, ok := fieldset.ServerPath(c.content, text)
	if !ok {
		return apply.FieldOwn
	}
	policy, depth := apply.FieldOwn, 0
	for _, rule := range c.rules {
		if n := rule.Path.Len(); n >= depth && rule.Path.Contains(path) {
			policy, depth = rule.Policy, n
		}
	}
	return policy
}

// notePatched updates the child with the answer to an apply.
func notePatched(p *pass, c *child, answer client.Object) {
	if c == p.ownerChild {
		ownerApplied(p, c.live.GetResourceVersion(), answer)
	}
	learnAnswer(p, c, answer)
}

// applyMigrated applies the intent after the migration of former managers. If rules depend on the owned fields, the child is decided
// again.
func applyMigrated(p *pass, c *child) error {
	reason := c.result.Reason
	if len(c.planned.Fields) > 0 {
		if decideChildAgain(p, c); c.action == actionNone {
			return nil
		}
	}
	err := patchChild(p, c)
	if err == nil && c.result.Err == nil {
		c.result.Reason = reason // the reason of the original decision
	}
	return err
}
