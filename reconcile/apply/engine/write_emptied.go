package engine

import (
	"fmt"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/fieldset"
)

// A server-side apply that takes all fields out of an object and plans the object
// itself with nothing in it makes null of it, which the schema of a custom
// resource refuses. The fields are removed first, then the apply finds the
// empty object that it plans.

// removeEmptied follows the refusal of an intent for an object that it empties. It
// returns the error if that is not so, and nil when the child is as planned or
// its result has the reason.
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

// emptiedPaths are the fields of ours that the live object has in objects that are
// planned with nothing in them, and of which the refusal is about.
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
