package write

import (
	"encoding/json"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/reconcilekit/reconcilekit/reconcile/apply"
	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/fieldset"
	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/memory"
	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/ownership"
	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/pass"
)

// giveUpIgnored gives up the fields that the plan ignores and that an earlier plan set,
// before the intent is applied without them: an apply removes what the engine owns and no
// longer sends. It edits the engine's entry of managedFields in the version
// that was read, so that the values stay and no manager owns them. It reports
// whether there was something to give up.
func giveUpIgnored(p *pass.Pass, c *pass.Child) (bool, error) {
	var paths []fieldset.Path
	for i := range c.Rules {
		if c.Rules[i].Policy == apply.FieldIgnore {
			paths = append(paths, c.Rules[i].Path)
		}
	}
	if len(paths) == 0 || c.Live == nil || c == p.OwnerChild {
		return false, nil
	}
	if entry := fieldset.Entry(c.Live.GetManagedFields(), c.Manager); entry != nil && entry.FieldsV1 != nil {
		if without, err := withoutIgnored(c, entry, paths); err != nil || without == nil {
			return false, err
		}
	}
	live, err := p.LiveMetadata(c.Kind.GVK, c.ID.Key) // caches may shorten entries
	if err != nil {
		return false, fmt.Errorf("read the field managers: %w", err)
	}
	if live == nil || live.UID != c.Live.GetUID() {
		return false, fmt.Errorf("give up ignored fields: %w", ownership.ErrReplaced)
	}
	entry := fieldset.Entry(live.ManagedFields, c.Manager)
	if entry == nil || entry.FieldsV1 == nil {
		return false, nil
	}
	without, err := withoutIgnored(c, entry, paths)
	if err != nil || without == nil {
		return false, err
	}
	entry.FieldsV1 = without
	data, err := json.Marshal([]map[string]any{
		{"op": "add", "path": "/metadata/managedFields", "value": live.ManagedFields},
		{"op": "replace", "path": "/metadata/resourceVersion", "value": live.ResourceVersion},
	})
	if err != nil {
		return false, err
	}
	if err := p.Env.Client.Patch(p.Ctx, live, client.RawPatch(types.JSONPatchType, data), client.FieldOwner(p.Env.Options.FieldManager)); err != nil {
		return false, fmt.Errorf("give up ignored fields: %w", err)
	}
	c.Memory.Owns(memory.Remembered(fieldset.Entry(live.ManagedFields, c.Manager), p.Owner.GetUID()))
	return true, nil
}

// withoutIgnored returns the fields of the entry without those at the paths, nil if it has
// none there. What is sent all the same, such as the label that makes the
// object a child, stays.
func withoutIgnored(c *pass.Child, entry *metav1.ManagedFieldsEntry, paths []fieldset.Path) (*metav1.FieldsV1, error) {
	sent, err := fieldset.RawFields(entry)
	if err != nil {
		return nil, err
	}
	fields, err := fieldset.RawFields(entry)
	if err != nil {
		return nil, err
	}
	sent = fieldset.TakePlanned(sent, c.Content)
	found := false
	for _, path := range paths {
		rest, err := fieldset.RawFields(entry)
		if err != nil {
			return nil, err
		}
		fieldset.SubtractLeaves(rest, sent)
		found = path.Cut(rest) || found
		path.Cut(fields)
	}
	if !found {
		return nil, nil //nolint:nilnil // nothing to give up
	}
	fieldset.UnionFields(fields, sent)
	return fieldset.EncodeFields(fields)
}

// applyRest decides again about a child whose managedFields were edited, and
// applies it where that is still needed.
func applyRest(p *pass.Pass, c *pass.Child) error {
	err := applyAgain(p, c)
	if c.Action == pass.ActionNone && c.Result.Err == nil && c.Result.Outcome == apply.OutcomeUnchanged {
		c.Result.Outcome = apply.OutcomeUpdated
	}
	return err
}
