package engine

import (
	"fmt"
	"maps"
	"slices"

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

// emptiedPaths returns the engine's fields of the live object that are in objects planned as empty, and its lists that are planned as
// empty, if they are near those that the refusal names.
func emptiedPaths(c *child, live map[string]any, refusal error) []fieldset.Path {
	causes := causesOf(refusal)
	if len(causes) == 0 {
		return nil
	}
	e := emptied{near: nearCauses(causes), own: c.observed.Own.Set}
	e.object(fieldset.Path{}, "", c.content, live)
	return e.paths
}

type emptied struct {
	near  func(path string) bool
	own   *fieldset.Set
	paths []fieldset.Path
}

// object adds the emptied parts of an object.
func (e *emptied) object(at fieldset.Path, text string, planned, live map[string]any) {
	for _, name := range slices.Sorted(maps.Keys(planned)) {
		path, text := at.Child(name), text+"."+name
		own := path.Below(e.own)
		if own == nil || text == ".metadata" {
			continue
		}
		switch want := planned[name].(type) {
		case map[string]any:
			have, _ := live[name].(map[string]any)
			if len(want) > 0 {
				e.object(path, text, want, have)
			} else if e.near(text) && !slices.ContainsFunc(slices.Collect(maps.Keys(have)), func(part string) bool { return own.Field(part) == nil }) {
				for part := range have {
					e.paths = append(e.paths, path.Child(part))
				}
			}
		case []any:
			if have, _ := live[name].([]any); len(want) == 0 && len(have) > 0 && len(own.Items) == len(have) && e.near(text) {
				e.paths = append(e.paths, path)
			}
		}
	}
}
