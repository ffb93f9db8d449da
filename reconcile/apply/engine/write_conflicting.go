package engine

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/reconcilekit/reconcilekit/reconcile/apply"
	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/fieldset"
	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/memory"
)

// Server-side apply leaves the fields of other managers. If another manager has replaced a part of the object, its additions can make the
// merged object invalid: a second port with the same name, a second source of a volume. The API server then refuses an intent that it
// would accept for a new object. The engine takes such fields over, so that the apply of the plan removes them.

// removeConflicting handles the refusal of an intent that is invalid only in combination with fields of other managers. It returns the
// error for any other refusal. It returns nil if the child is as planned or its result has the reason.
func removeConflicting(p *pass, c *child, refusal error) error {
	if !isCurable(refusal) || c.live == nil || !mayRemoveConflicting(p, c) {
		return refusal
	}
	causes := causesOf(refusal)
	if len(causes) == 0 {
		causes = plannedCauses(c.content)
	}
	if cached := c.live.GetManagedFields(); !fieldset.Shortened(cached) {
		if found, err := findForeignFields(c, nil, cached, causes); err != nil || len(found) == 0 {
			return refusal
		}
	}
	live, err := p.liveMetadata(c.kind.GVK, c.id.Key)
	if err != nil || live == nil || live.UID != c.live.GetUID() {
		return refusal
	}
	created, err := createDryRun(p, c)
	if err != nil {
		return refusal //nolint:nilerr // the plan is invalid for a new object, too
	}
	found, err := findForeignFields(c, created, live.ManagedFields, causes)
	if err != nil || len(found) == 0 {
		return refusal
	}
	f := firstRemoved(found)
	if f == nil && len(causesOf(refusal)) == 0 {
		return refusal // the refusal may have another cause
	}
	if f == nil {
		c.memory.ForgetProof()
		failWithBackoff(p, c, apply.OutcomeContested, &apply.ContestedError{
			Kind: c.id.GroupKind.Kind, Namespace: c.id.Key.Namespace, Name: c.id.Key.Name, Fields: contestedFields(found),
		})
		c.result.Reason = apply.ReasonContested
		return nil
	}
	if err := takeOver(p, c, live, f); err != nil {
		return fmt.Errorf("take over fields that do not go with the plan: %w", err)
	}
	log.FromContext(p.ctx).Info("another manager has added fields with which the plan is invalid; they are removed",
		"child", c.id.String(), "manager", f.entry.Manager, "fields", f.paths, "refusal", refusal.Error())
	reason := c.result.Reason
	if decideChildAgain(p, c); c.action == actionNone {
		return nil
	}
	c.result.Reason = reason
	return patchChild(p, c)
}

// mayRemoveConflicting reports whether the plan describes the named fields completely. A contribution does not.
func mayRemoveConflicting(p *pass, c *child) bool {
	return c != p.ownerChild && (c.planned.Mode == apply.Own || c.planned.Mode == apply.Shared) && len(c.contested()) == 0
}

// plannedCauses returns the planned fields as the causes of a refusal that names none.
func plannedCauses(content map[string]any) []metav1.StatusCause {
	var out []metav1.StatusCause
	for _, name := range slices.Sorted(maps.Keys(content)) {
		out = append(out, metav1.StatusCause{Field: name})
	}
	return out
}

func causesOf(err error) []metav1.StatusCause {
	var status apierrors.APIStatus
	if !errors.As(err, &status) || status.Status().Details == nil {
		return nil
	}
	return status.Status().Details.Causes
}

// foreignField are fields of one other manager that conflict with the plan.
type foreignField struct {
	entry  *metav1.ManagedFieldsEntry
	fields map[string]any // as in fieldsV1
	paths  []string
	// replaced reports that the fields replace fields of the engine.
	replaced bool
}

// findForeignFields finds the fields of other managers at the places that the refusal names or, if there are none, around them. created is
// the plan with the defaults of the API server, nil if unknown.
func findForeignFields(c *child, created map[string]any, entries []metav1.ManagedFieldsEntry, causes []metav1.StatusCause) ([]foreignField, error) {
	own := memory.Remembered(fieldset.Entry(entries, c.manager), "").Set()
	for _, place := range causePlaces(causes) {
		for ; len(place) > 0; place = place[:len(place)-1] {
			var found []foreignField
			for i := range entries {
				e := &entries[i]
				if e.Subresource == "status" || (e.Manager == c.manager && e.Operation == metav1.ManagedFieldsOperationApply) {
					continue
				}
				fields, err := fieldset.RawFields(e)
				if err != nil {
					return nil, err
				}
				w := &foreignSearch{foreignField: foreignField{entry: e}}
				if w.fields = w.below(fields, own, plannedVersion{c.content, created}, place, ""); len(w.fields) > 0 {
					found = append(found, w.foreignField)
				}
			}
			if replaced := slices.DeleteFunc(slices.Clone(found), func(f foreignField) bool { return !f.replaced }); len(replaced) > 0 {
				return replaced, nil
			}
			if len(found) > 0 {
				return found, nil
			}
		}
	}
	return nil, nil
}

// causePlaces returns the paths of the causes without indexes, the longest first.
func causePlaces(causes []metav1.StatusCause) [][]string {
	var out [][]string
	for _, cause := range causes {
		var place []string
		for part := range strings.SplitSeq(cause.Field, ".") {
			if name, _, _ := strings.Cut(part, "["); name != "" {
				place = append(place, name)
			}
		}
		if len(place) > 0 && place[0] != "metadata" {
			out = append(out, place)
		}
	}
	slices.SortStableFunc(out, func(a, b []string) int { return len(b) - len(a) })
	return out
}

// foreignSearch collects the conflicting fields of one manager.
type foreignSearch struct{ foreignField }

// plannedVersion is a part of the plan, without and with defaults. Keys of list items may be defaults.
type plannedVersion struct{ planned, defaulted any }

func (v plannedVersion) field(name string) plannedVersion {
	planned, _ := v.planned.(map[string]any)
	defaulted, _ := v.defaulted.(map[string]any)
	return plannedVersion{planned[name], defaulted[name]}
}

// item returns the planned item with the same keys.
func (v plannedVersion) item(item *fieldset.Item) (plannedVersion, bool) {
	planned, _ := v.planned.([]any)
	defaulted, _ := v.defaulted.([]any)
	for i := range planned {
		found := plannedVersion{planned: planned[i]}
		if len(defaulted) == len(planned) {
			found.defaulted = defaulted[i]
		}
		if item.Means(found.planned) && (found.defaulted == nil || item.Is(found.defaulted)) {
			return found, true
		}
	}
	return plannedVersion{}, false
}

// below returns the unplanned fields of the manager at the place or below it. own are the engine's fields there.
func (w *foreignSearch) below(fields map[string]any, own *fieldset.Set, plan plannedVersion, place []string, path string) map[string]any {
	out := map[string]any{}
	keep := func(name string, found map[string]any) {
		if len(found) > 0 {
			out[name] = found
		}
	}
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		next, _ := fields[name].(map[string]any)
		kind, rest, _ := strings.Cut(name, ":")
		switch content := plan.planned.(type) {
		case map[string]any:
			if kind != "f" || (len(place) > 0 && place[0] != rest) {
				continue
			}
			at := path + "." + rest
			if _, ok := content[rest]; ok {
				keep(name, w.below(next, fieldOf(own, rest), plan.field(rest), place[min(1, len(place)):], at))
				continue
			}
			if len(place) > 1 {
				continue // the refusal is about something further below
			}
			w.take(at, lacksPlanned(own, content))
			out[name] = next
		case []any:
			item := itemOf(name)
			if item == nil {
				continue
			}
			at := path + "[" + itemText(item) + "]"
			if planned, ok := plan.item(item); ok {
				keep(name, w.below(next, itemSet(own, item), planned, place, at))
				continue
			}
			w.take(at, true)
			out[name] = next
		}
	}
	return out
}

func (w *foreignSearch) take(path string, replaced bool) {
	w.paths = append(w.paths, path)
	w.replaced = w.replaced || replaced
}

// lacksPlanned reports whether the engine no longer owns a planned field of the map.
func lacksPlanned(own *fieldset.Set, planned map[string]any) bool {
	for name := range planned {
		if fieldOf(own, name) == nil {
			return true
		}
	}
	return false
}

func fieldOf(set *fieldset.Set, name string) *fieldset.Set {
	if set == nil {
		return nil
	}
	return set.Field(name)
}

// itemOf parses the name of a list item in fieldsV1, nil for another name.
func itemOf(name string) *fieldset.Item {
	quoted, err := json.Marshal(name)
	if err != nil {
		return nil
	}
	set, err := fieldset.Parse([]byte("{" + string(quoted) + ":{}}"))
	if err != nil || len(set.Items) != 1 {
		return nil
	}
	return &set.Items[0]
}

// itemText returns the item in the notation of the API server: port=80,protocol="TCP".
func itemText(item *fieldset.Item) string {
	if item.Keys == nil {
		return fmt.Sprintf("=%#v", item.Value)
	}
	parts := make([]string, 0, len(item.Keys))
	for _, key := range slices.Sorted(maps.Keys(item.Keys)) {
		parts = append(parts, fmt.Sprintf("%s=%#v", key, item.Keys[key]))
	}
	return strings.Join(parts, ",")
}

func itemSet(set *fieldset.Set, item *fieldset.Item) *fieldset.Set {
	if set == nil {
		return nil
	}
	for i := range set.Items {
		if set.Items[i].Keys != nil && set.Items[i].Names(item.Keys) {
			return set.Items[i].Set
		}
	}
	return nil
}

// firstRemoved returns the fields that are removed first: those that replaced fields of the engine by update, from the manager that wrote
// last. It returns nil if all fields are to be reported instead. These are fields that managers apply, and fields next to intact fields of
// the engine, because there the plan is newer.
func firstRemoved(found []foreignField) *foreignField {
	var last *foreignField
	for i := range found {
		f := &found[i]
		if !f.replaced || f.entry.Operation == metav1.ManagedFieldsOperationApply {
			continue
		}
		if last == nil || fieldset.Later(f.entry, last.entry) {
			last = f
		}
	}
	return last
}

func contestedFields(found []foreignField) []apply.ContestedField {
	var out []apply.ContestedField
	for _, f := range found {
		for _, path := range f.paths {
			out = append(out, apply.ContestedField{Path: path, Manager: f.entry.Manager})
		}
	}
	return out
}

// takeOver moves the fields of another manager to the engine's entry, pinned to the version that was read.
func takeOver(p *pass, c *child, live *metav1.PartialObjectMetadata, f *foreignField) error {
	own := metav1.ManagedFieldsEntry{
		Manager: c.manager, Operation: metav1.ManagedFieldsOperationApply,
		APIVersion: c.kind.GVK.GroupVersion().String(), FieldsType: "FieldsV1",
	}
	ours := map[string]any{}
	var entries []metav1.ManagedFieldsEntry
	for i := range live.ManagedFields {
		e := live.ManagedFields[i]
		mine := e.Manager == c.manager && e.Operation == own.Operation && e.Subresource == ""
		if !mine && f.entry != &live.ManagedFields[i] {
			entries = append(entries, e)
			continue
		}
		fields, err := fieldset.RawFields(&e)
		if err != nil {
			return err
		}
		if mine {
			own.Time = e.Time
			fieldset.UnionFields(ours, fields)
			continue
		}
		if fieldset.SubtractLeaves(fields, f.fields); len(fields) == 0 {
			continue
		}
		if e.FieldsV1, err = fieldset.EncodeFields(fields); err != nil {
			return err
		}
		entries = append(entries, e)
	}
	fieldset.UnionFields(ours, f.fields)
	var err error
	if own.FieldsV1, err = fieldset.EncodeFields(ours); err != nil {
		return err
	}
	data, err := json.Marshal([]map[string]any{
		{"op": "add", "path": "/metadata/managedFields", "value": append(entries, own)},
		{"op": "replace", "path": "/metadata/resourceVersion", "value": live.ResourceVersion},
	})
	if err != nil {
		return err
	}
	return p.env.client.Patch(p.ctx, live, client.RawPatch(types.JSONPatchType, data), client.FieldOwner(p.env.options.FieldManager))
}
