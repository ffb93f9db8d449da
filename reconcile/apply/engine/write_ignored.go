package engine

import (
	"encoding/json"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/reconcilekit/reconcilekit/reconcile/apply"
	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/fieldset"
	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/memory"
)

// giveUpIgnored gives up the ownership of ignored fields that an earlier plan set, because the next apply would remove them. It reports
// whether there were such fields.
func giveUpIgnored(p *pass, c *child) (bool, error) {
	var paths []fieldset.Path
	for i := range c.rules {
		if c.rules[i].Policy == apply.FieldIgnore {
			paths = append(paths, c.rules[i].Path)
		}
	}
	if len(paths) == 0 || c.live == nil || c == p.ownerChild {
		return false, nil
	}
	return giveUpFields(p, c, paths)
}

// giveUpFields gives up the ownership of fields. It edits the engine's entry in managedFields, pinned to the version that was read. The
// values stay, and no manager owns them. It reports whether there were such fields.
func giveUpFields(p *pass, c *child, paths []fieldset.Path) (bool, error) {
	if entry := fieldset.Entry(c.live.GetManagedFields(), c.manager); entry != nil && entry.FieldsV1 != nil {
		if without, err := withoutIgnored(c, entry, paths); err != nil || without == nil {
			return false, err
		}
	}
	live, err := p.liveMetadata(c.kind.GVK, c.id.Key) // caches may shorten entries
	if err != nil {
		return false, fmt.Errorf("read the field managers: %w", err)
	}
	if live == nil || live.UID != c.live.GetUID() {
		return false, fmt.Errorf("give up fields: %w", errReplaced)
	}
	entry := fieldset.Entry(live.ManagedFields, c.manager)
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
	if err := p.env.client.Patch(p.ctx, live, client.RawPatch(types.JSONPatchType, data), client.FieldOwner(p.env.options.FieldManager)); err != nil {
		return false, fmt.Errorf("give up fields: %w", err)
	}
	c.memory.Owns(memory.Remembered(fieldset.Entry(live.ManagedFields, c.manager), p.owner.GetUID()))
	return true, nil
}

// withoutIgnored returns the fields of the entry without those at the paths, nil if the entry has none of them. Fields that are sent
// regardless, such as the part-of label, stay.
func withoutIgnored(c *child, entry *metav1.ManagedFieldsEntry, paths []fieldset.Path) (*metav1.FieldsV1, error) {
	sent, err := fieldset.RawFields(entry)
	if err != nil {
		return nil, err
	}
	fields, err := fieldset.RawFields(entry)
	if err != nil {
		return nil, err
	}
	sent = fieldset.TakePlanned(sent, c.content)
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

// applyRest decides a child again after its managedFields were edited, and applies it if needed.
func applyRest(p *pass, c *child) error {
	err := applyAgain(p, c)
	if c.action == actionNone && c.result.Err == nil && c.result.Outcome == apply.OutcomeUnchanged {
		c.result.Outcome = apply.OutcomeUpdated
	}
	return err
}
