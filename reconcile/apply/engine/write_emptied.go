package engine

import (
	"fmt"
	"maps"
	"slices"
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
	e := findEmptied(c, live, refusal)
	if len(e.places) == 0 {
		return refusal
	}
	c.unwanted = e.places
	answer, err := sendRemoval(p, c)
	if err != nil {
		return fmt.Errorf("empty %s: %w", e.places[0].Text, err)
	}
	// A default with the same value is back at once, and would be removed again.
	if after, err := p.env.encoder.Live(answer); err == nil && len(fieldset.Places(after, e.paths...)) > 0 {
		if _, err := giveUpFields(p, c, e.paths); err != nil {
			return err
		}
	}
	reason := c.result.Reason
	if decideChildAgain(p, c); c.action == actionNone {
		return nil
	}
	c.result.Reason = reason
	return patchChild(p, c)
}

// emptied are the engine's fields in objects that are planned as empty, by path, and their places, also those of the items of lists that
// are planned as empty.
type emptied struct {
	near   func(path string) bool
	paths  []fieldset.Path
	places []fieldset.Place
}

// findEmptied finds what the intent empties in the live object, near the fields that the refusal names.
func findEmptied(c *child, live map[string]any, refusal error) emptied {
	var e emptied
	if causes := causesOf(refusal); len(causes) > 0 {
		e.near = nearCauses(causes)
		e.object(fieldset.Path{}, "", c.observed.Own.Set, c.content, live)
		e.places = append(fieldset.Places(live, e.paths...), e.places...)
	}
	return e
}

// object adds the emptied parts of an object.
func (e *emptied) object(at fieldset.Path, pointer string, own *fieldset.Set, planned, live map[string]any) {
	for _, name := range slices.Sorted(maps.Keys(planned)) {
		path, pointer, below := at.Child(name), pointer+fieldset.PointerToken(name), fieldOf(own, name)
		text := strings.ReplaceAll(pointer, "/", ".")
		if below == nil || text == ".metadata" {
			continue
		}
		switch want := planned[name].(type) {
		case map[string]any:
			have, _ := live[name].(map[string]any)
			if len(want) > 0 {
				e.object(path, pointer, below, want, have)
				continue
			}
			names := slices.Sorted(maps.Keys(have))
			if !e.near(text) || slices.ContainsFunc(names, func(part string) bool { return below.Field(part) == nil }) {
				continue // others have a part of it
			}
			for _, part := range names {
				e.paths = append(e.paths, path.Child(part))
			}
		case []any:
			have, _ := live[name].([]any)
			if len(want) > 0 || len(below.Items) != len(have) || !e.near(text) {
				continue
			}
			for range have {
				e.places = append(e.places, fieldset.Place{Text: text, Pointer: pointer + "/0"})
			}
		}
	}
}
