package write

import (
	"errors"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/reconcilekit/reconcilekit/reconcile/apply"
	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/content"
	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/decide"
	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/fieldset"
	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/inventory"
	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/pass"
)

// MaxTries bounds the requests of one child in a pass: what the API server
// refuses is looked at, decided anew and tried again.
const MaxTries = 4

// onlyCreate is a resourceVersion that no object has. An apply with it creates
// an object, as the version of a missing one is not looked at, and is refused
// by one that exists.
const onlyCreate = "1"

var errUnsettled = errors.New("it changes faster than it can be looked at")

// patch applies the intent, first taking an adopted object from its
// controller.
func patch(p *pass.Pass, c *pass.Child) error {
	if err := takeFromController(p, c); err != nil {
		return err
	}
	if given, err := giveUpIgnored(p, c); err != nil {
		return err
	} else if given {
		return applyRest(p, c)
	}
	if err := leaveEmpty(p, c); err != nil || c.Action == pass.ActionNone {
		return err
	}
	answer, err := Apply(p, c)
	if err != nil || answer == nil {
		return err
	}
	patched(p, c, answer)
	if err := renew(p, c, answer); err != nil || c.Answer != answer {
		return err
	}
	if len(c.Rules) == 0 {
		return nil
	}
	return removeRest(p, c, answer)
}

// Apply sends the intent and follows what the server says about it. It returns
// neither an answer nor an error when it turns out that nothing is to be sent;
// the result of the child has the reason. A first write can only create. A forced one
// hits the version that was decided about and no other, so that it takes
// nothing that was not looked at.
func Apply(p *pass.Pass, c *pass.Child, opts ...client.PatchOption) (client.Object, error) {
	for range MaxTries {
		data, err := content.PinnedBody(c.Content, c.Kind.GVK, c.ID.Key, c.UID, pinned(c))
		if err != nil {
			return nil, fmt.Errorf("encode: %w", err)
		}
		answer, err := sendApply(p.Ctx, p.Env, c, data, c.Force, opts...)
		if err == nil {
			return answer, nil
		}
		fields := conflicts(err)
		switch {
		case len(fields) > 0 && c.Live != nil:
			resolveConflicts(p, c, fields)
		case apierrors.IsConflict(err):
			decideAgain(p, c)
		default:
			return nil, err
		}
		if c.Action == pass.ActionNone {
			return nil, nil
		}
	}
	return nil, errUnsettled
}

// pinned is the resourceVersion that an apply must find.
func pinned(c *pass.Child) string {
	switch {
	case c.Live == nil && c.UID == "":
		return onlyCreate
	case c.Live != nil && (c.Force || c.Kind.Metadata):
		return c.Live.GetResourceVersion()
	}
	return ""
}

// decideAgain decides anew about an object that is not as it was thought to be.
func decideAgain(p *pass.Pass, c *pass.Child) {
	verb := c.Result.Verb
	c.Action, c.Force, c.Content, c.UID, c.Contested = pass.ActionNone, false, nil, "", nil
	c.LeftSeeds, c.Unwanted, c.LostAbsent = nil, nil, nil
	c.Result.Outcome, c.Result.Reason, c.Result.Err = apply.OutcomeUnchanged, apply.ReasonUpToDate, nil
	c.Memory.ForgetProof()
	decide.Live(p, c)
	if c.Decided(); c.Action == pass.ActionNone && c.Result.Err == nil {
		c.Result.Verb = verb // what was decided and turned out not to be needed
	}
}

// resolveConflicts follows a refusal field by field: a seed is left to whoever has it,
// what was changed by update and what the plan forces is taken, and the rest
// is left to the managers that apply it.
func resolveConflicts(p *pass.Pass, c *pass.Child, fields []conflict) {
	live, err := p.Env.Encoder.Live(c.Live)
	if err != nil {
		c.Failed(apply.OutcomeFailed, err)
		return
	}
	set := c.Observed.Own.Set
	c.Observed = fieldset.Observation{} // the content may share values with it, and is changed here
	var contested []apply.ContestedField
	again := false
	for _, f := range fields {
		switch policy := policyOf(c, f.Path); {
		case policy == apply.FieldSeed || policy == apply.FieldCreateOnly:
			again = decide.Leave(c, f.Path, nil, nil) || again
			c.LeftSeeds = append(c.LeftSeeds, f.Path)
		case policy == apply.FieldForce || (f.update && (c.Planned.Mode != apply.Contribute || p.Env.Ours(f.Manager))):
			again = again || !c.Force
			c.Force = true
		default:
			contested = append(contested, f.ContestedField)
			again = decide.Leave(c, f.Path, nil, nil) || again
		}
	}
	if len(contested) > 0 {
		decide.LeaveToOthers(p, c, contested)
	}
	if again && len(c.Content) > 0 && !decide.Agrees(c, set, live) {
		return
	}
	c.Memory.Accept(c.Hash, c.Live.GetResourceVersion())
	c.Memory.Projects(decide.ProjectionLeft(p, c, set, live))
	c.Action = pass.ActionNone
	decide.EndUnchanged(p, c)
}

// policyOf is what the plan says about a field that the server names.
func policyOf(c *pass.Child, text string) apply.FieldPolicy {
	path, ok := fieldset.ServerPath(c.Content, text)
	if !ok {
		return apply.FieldOwn
	}
	policy, depth := apply.FieldOwn, 0
	for _, rule := range c.Rules {
		if n := rule.Path.Len(); n >= depth && rule.Path.Contains(path) {
			policy, depth = rule.Policy, n
		}
	}
	return policy
}

// patched notes an answer to an apply.
func patched(p *pass.Pass, c *pass.Child, answer client.Object) {
	if c == p.OwnerChild {
		inventory.OwnerApplied(p, c.Live.GetResourceVersion(), answer)
	}
	decide.Answered(p, c, answer)
}

// migrated applies after the fields of former managers have become ours. Where
// rules depend on what is ours, that is looked at again.
func migrated(p *pass.Pass, c *pass.Child) error {
	reason := c.Result.Reason
	if len(c.Planned.Fields) > 0 {
		if decideAgain(p, c); c.Action == pass.ActionNone {
			return nil
		}
	}
	err := patch(p, c)
	if err == nil && c.Result.Err == nil {
		c.Result.Reason = reason // whatever the version that is now there was met with
	}
	return err
}
