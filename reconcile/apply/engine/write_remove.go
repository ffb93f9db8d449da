package engine

import (
	"encoding/json"
	"fmt"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/reconcilekit/reconcilekit/reconcile/apply"
	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/intent"
)

// removeFields removes the unwanted fields of the object that was read. If the object has changed since, it is read again.
func removeFields(p *pass, c *child) error {
	for range maxTries {
		answer, err := sendRemoval(p, c)
		if err == nil {
			noteRemoved(p, c, answer)
			return nil
		}
		// A field that is already gone makes the patch invalid.
		if !apierrors.IsConflict(err) && (c.fresh || !apierrors.IsInvalid(err)) {
			return fmt.Errorf("remove %s: %w", c.unwanted[0].Text, err)
		}
		decideChildAgain(p, c)
		switch c.action {
		case actionNone, actionMark:
			return nil
		case actionRemove:
		case actionApply, actionCreate, actionMigrate:
			return patchChild(p, c)
		}
	}
	return errUnsettled
}

// sendRemoval sends one patch that removes the unwanted fields.
func sendRemoval(p *pass, c *child, opts ...client.PatchOption) (client.Object, error) {
	type operation struct {
		Op    string `json:"op"`
		Path  string `json:"path"`
		Value any    `json:"value,omitempty"`
	}
	patch := []operation{
		{"test", "/metadata/uid", c.live.GetUID()},
		{"replace", "/metadata/resourceVersion", c.live.GetResourceVersion()},
	}
	for i := range c.unwanted {
		for _, key := range c.unwanted[i].Items {
			patch = append(patch, operation{"test", key.Pointer, key.Value})
		}
	}
	for i := range c.unwanted {
		patch = append(patch, operation{Op: "remove", Path: c.unwanted[i].Pointer})
	}
	data, err := json.Marshal(patch)
	if err != nil {
		return nil, err
	}
	o := c.kind.NewObject()
	o.SetName(c.id.Key.Name)
	o.SetNamespace(c.id.Key.Namespace)
	opts = append(opts, client.FieldOwner(p.env.removalManager()))
	if err := p.env.client.Patch(p.ctx, o, client.RawPatch(types.JSONPatchType, data), opts...); err != nil {
		return nil, err
	}
	return o, nil
}

// noteRemoved updates the child with the answer to a removal. If the answer still has a field, the next pass handles it.
func noteRemoved(p *pass, c *child, answer client.Object) {
	if c.result.Outcome != apply.OutcomeCreated {
		c.result.Outcome = apply.OutcomeUpdated
	}
	c.result.Fields = append(c.result.Fields, c.removedFields(c.result.Fields)...)
	learnFrom(p, c, answer, false)
	if live, err := p.env.encoder.Live(answer); err == nil {
		c.findUnwanted(live)
		remember(p, c)
		if len(c.unwanted) > 0 {
			c.memory.ForgetProof()
		}
	}
	c.reportContest()
}

// removeRest removes unwanted fields that the answer to an apply has.
func removeRest(p *pass, c *child, answer client.Object) error {
	if c.result.Err != nil || !slices.ContainsFunc(c.rules, func(r intent.Rule) bool { return r.Policy == apply.FieldAbsent }) {
		return nil //nolint:nilerr // the error is that of the child already
	}
	live, err := p.env.encoder.Live(answer)
	if err != nil {
		return nil //nolint:nilerr // the next pass reads it again
	}
	observeAnswer(p, c, answer)
	c.findUnwanted(live)
	removes := c.removesFields()
	remember(p, c)
	if !removes {
		c.reportContest()
		return nil
	}
	c.action = actionRemove
	return removeFields(p, c)
}
