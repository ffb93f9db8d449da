package drift

import (
	"context"
	"strings"

	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/internal/baseline"
	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/internal/objects"
)

// overwrite sets a field of an object to another value that the API server accepts, and reports whether there is one. If there is none,
// it adds a note, except for immutable fields.
func (d *disturbance) overwrite(ctx context.Context, t baseline.Target, path []string) bool {
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
		err := d.run.Cluster.Client.Update(ctx, changed)
		if err == nil {
			return true
		}
		if refused == nil {
			refused = err
		}
	}
	if refused != nil && !fixed(refused) {
		d.checker.Note("not tried: an edit of %s of %s, as the API server refuses the values that were tried: %v", strings.Join(path, "."), t, refused)
	}
	return false
}

// fixed reports whether the API server rejects any other value: for an immutable field, and for template labels that an immutable
// selector selects.
func fixed(refused error) bool {
	return strings.Contains(refused.Error(), "immutable") || strings.Contains(refused.Error(), "does not match template `labels`")
}

// others returns values to which another client might set a field: those of the schema, else some that resemble the old one.
func (d *disturbance) others(t baseline.Target, path []string, old any) []any {
	if named := d.checker.System.Blueprint.Enum(t.GVK, path); len(named) > 0 {
		return named
	}
	return objects.Edits(old, t.GVK.Kind == "Secret" && path[0] == "data")
}
