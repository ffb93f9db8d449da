package engine

import (
	"fmt"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/fieldset"
)

// If a server-side apply removes all fields of an object and plans the object itself as empty, the API server makes it null, which the
// schema of a custom resource refuses. The engine removes the fields first. Then the apply finds the planned empty object.

// removeEmptied handles the refusal of an intent for an object that the intent empties. It returns the error for any other refusal. It
// returns nil if the child is as planned or its result has the reason.
func removeEmptied(p *pass, c *child, refusal error) error {
	if !apierrors.IsInvalid(refusal) || c.live == nil || c.action != actionApply || c == p.ownerChild {
		return refusal
	}
	live, err := p.env.encoder.Live(c.live)
	if err != nil {
		return refusal
	}
	fields := emptiedPaths(c, live, refusal)
	if len(fields) == 0 {
		return refusal
	}
	c.unwanted = fieldset.Places(live, fields...)
	if _, err := sendRemoval(p, c); err != nil {
		return fmt.Errorf("empty %s: %w", fields[0], err)
	}
	reason := c.result.Reason
	if decideChildAgain(p, c); c.action == actionNone {
		return nil
	}
	c.result.Reason = reason
	return patchChild(p, c)
}

// emptiedPaths returns the engine's fields of the live object that are in objects planned as empty, if the refusal names them.
func emptiedPaths(c *child, live map[string]any, refusal error) []fieldset.Path {
	var out []fieldset.Path
	for _, cause := range causesOf(refusal) {
		want, planned := valueAt(c.content, cause.Field)
		have, exists := valueAt(live, cause.Field)
		plannedMap, isMap := want.(map[string]any)
		liveMap, _ := have.(map[string]any)
		if !planned || !exists || !isMap || len(plannedMap) > 0 || strings.Contains(cause.Field, "[") {
			continue
		}
		path, err := fieldset.ParsePath(cause.Field)
		if err != nil {
			continue
		}
		own := path.Below(c.observed.Own.Set)
		for name := range liveMap {
			if own == nil || own.Field(name) == nil {
				return nil // it is not emptied: others have a part of it
			}
			out = append(out, path.Child(name))
		}
	}
	return out
}
