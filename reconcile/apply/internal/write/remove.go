package write

import (
	"encoding/json"
	"fmt"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/reconcilekit/reconcilekit/reconcile/apply"
	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/decide"
	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/intent"
	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/pass"
)

// remove removes the unwanted fields of the object that was looked at. What has
// changed since is looked at again.
func remove(p *pass.Pass, c *pass.Child) error {
	for range MaxTries {
		answer, err := SendRemoval(p, c)
		if err == nil {
			removed(p, c, answer)
			return nil
		}
		// A field that is gone already makes the patch invalid.
		if !apierrors.IsConflict(err) && (c.Fresh || !apierrors.IsInvalid(err)) {
			return fmt.Errorf("remove %s: %w", c.Unwanted[0].Text, err)
		}
		decideAgain(p, c)
		switch c.Action {
		case pass.ActionNone, pass.ActionMark:
			return nil
		case pass.ActionRemove:
		case pass.ActionApply, pass.ActionCreate, pass.ActionMigrate:
			return patch(p, c)
		}
	}
	return errUnsettled
}

// SendRemoval sends one patch that removes the unwanted fields.
func SendRemoval(p *pass.Pass, c *pass.Child, opts ...client.PatchOption) (client.Object, error) {
	type operation struct {
		Op    string `json:"op"`
		Path  string `json:"path"`
		Value any    `json:"value,omitempty"`
	}
	patch := []operation{
		{"test", "/metadata/uid", c.Live.GetUID()},
		{"replace", "/metadata/resourceVersion", c.Live.GetResourceVersion()},
	}
	for i := range c.Unwanted {
		for _, key := range c.Unwanted[i].Items {
			patch = append(patch, operation{"test", key.Pointer, key.Value})
		}
	}
	for i := range c.Unwanted {
		patch = append(patch, operation{Op: "remove", Path: c.Unwanted[i].Pointer})
	}
	data, err := json.Marshal(patch)
	if err != nil {
		return nil, err
	}
	o := c.Kind.NewObject()
	o.SetName(c.ID.Key.Name)
	o.SetNamespace(c.ID.Key.Namespace)
	opts = append(opts, client.FieldOwner(p.Env.RemovalManager()))
	if err := p.Env.Client.Patch(p.Ctx, o, client.RawPatch(types.JSONPatchType, data), opts...); err != nil {
		return nil, err
	}
	return o, nil
}

// removed notes the answer to a removal. A field that the answer has again is
// for the next pass.
func removed(p *pass.Pass, c *pass.Child, answer client.Object) {
	if c.Result.Outcome != apply.OutcomeCreated {
		c.Result.Outcome = apply.OutcomeUpdated
	}
	c.Result.Fields = append(c.Result.Fields, decide.Removals(c, c.Result.Fields)...)
	decide.Removed(p, c, answer)
	if live, err := p.Env.Encoder.Live(answer); err == nil {
		if decide.NoteUnwanted(c, live); len(c.Unwanted) > 0 {
			c.Memory.ForgetProof()
		}
	}
	decide.ReportContest(p, c)
}

// removeRest removes the fields that an answer to an apply has and that the
// plan wants absent.
func removeRest(p *pass.Pass, c *pass.Child, answer client.Object) error {
	if c.Result.Err != nil || !slices.ContainsFunc(c.Rules, func(r intent.Rule) bool { return r.Policy == apply.FieldAbsent }) {
		return nil //nolint:nilerr // the error is that of the child already
	}
	live, err := p.Env.Encoder.Live(answer)
	if err != nil {
		return nil //nolint:nilerr // the next pass looks at it again
	}
	c.Free()
	c.Live, c.UID, c.Fresh = answer, answer.GetUID(), true
	if decide.NoteUnwanted(c, live); !decide.Removes(p, c) {
		decide.ReportContest(p, c)
		return nil
	}
	c.Action = pass.ActionRemove
	return remove(p, c)
}
