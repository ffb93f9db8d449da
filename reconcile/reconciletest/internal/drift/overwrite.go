package drift

import (
	"context"
	"strings"

	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/internal/objects"
	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/internal/story"
)

// overwrite gives a field of an object another value that the API server takes, and reports whether there is one. That there is none is
// noted, but for fields that nobody can change.
func (d *disturbance) overwrite(ctx context.Context, t story.Target, path []string) bool {
	u := d.object(t)
	if u == nil {
		return false
	}
	old, found := objects.At(u.Object, path)
	if !found {
		return false
	}
	var refused error
	for _, value := range d.others(t, path, old) {
		changed := u.DeepCopy()
		if objects.Equal(value, old) || !objects.Put(changed.Object, path, value) {
			continue
		}
		err := d.run.World.Client.Update(ctx, changed)
		if err == nil {
			return true
		}
		if refused == nil {
			refused = err
		}
	}
	if refused != nil && !fixed(refused) {
		d.judge.Note("not tried: an edit of %s of %s, as the API server refuses the values that were tried: %v", strings.Join(path, "."), t, refused)
	}
	return false
}

// fixed reports whether an API server refuses any other value: of a field that cannot be changed, and of the labels of a template that an
// immutable selector selects.
func fixed(refused error) bool {
	return strings.Contains(refused.Error(), "immutable") || strings.Contains(refused.Error(), "does not match template `labels`")
}

// others are values for a field that somebody else might give it: those that the schema names, otherwise some that are like the old one.
func (d *disturbance) others(t story.Target, path []string, old any) []any {
	if named := d.judge.System.Blueprint.Enum(t.GVK, path); len(named) > 0 {
		return named
	}
	return objects.Edits(old, t.GVK.Kind == "Secret" && path[0] == "data")
}
