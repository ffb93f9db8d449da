package engine

import (
	"errors"
	"fmt"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/reconcilekit/reconcilekit/reconcile/apply"
	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/fieldset"
)

// Server-side apply keeps fields without a manager: the defaults that the API server set for an earlier plan. They can make a later plan
// invalid, or differ from its defaults. The engine takes such fields over, so that the next apply removes them and the API server sets its
// defaults again.

// allocatedFields are the fields that the cluster allocates for one object.
//
//nolint:gochecknoglobals // a constant
var allocatedFields = []string{"clusterIP", "clusterIPs", "volumeName", "nodeName"}

// allocatedPorts are allocated as well, but a new object can be without them.
//
//nolint:gochecknoglobals // a constant
var allocatedPorts = []string{"nodePort", "healthCheckNodePort"}

// isAllocated reports whether the cluster has allocated the value of a field that a new object has, too, or has not.
func isAllocated(name string, value any, isFresh bool) bool {
	if list, ok := value.([]any); ok && len(list) > 0 {
		value = list[0]
	}
	if isHollow(value) {
		return false
	}
	return slices.Contains(allocatedFields, name) && value != "None" || slices.Contains(allocatedPorts, name) && isFresh
}

// isHollow reports whether the value is an empty list or object, or an object of such values.
func isHollow(value any) bool {
	switch x := value.(type) {
	case []any:
		return len(x) == 0
	case map[string]any:
		for _, below := range x {
			if !isHollow(below) {
				return false
			}
		}
		return true
	}
	return false
}

// unowned are the fields without a manager, as in fieldsV1.
type unowned struct {
	fields map[string]any
	places []fieldset.Place
	// only selects fields by path; nil selects all.
	only func(path string) bool
	// all selects the fields that a new object has with the same value, too.
	all bool
}

// unownedPart is one object in an object: as it is, as a new one would be, the fields of all managers, and the plan.
type unownedPart struct {
	live, fresh, owned, plan map[string]any
	path, pointer            string
}

// unownedFields finds the fields of an object that no manager owns and that a new object would not have, or would have with another value.
// In whole, owned is the union of the fields of all managers. A nil fresh selects all fields that no manager owns. only selects fields by
// path.
func unownedFields(whole unownedPart, only func(path string) bool) unowned {
	u := unowned{fields: map[string]any{}, only: only, all: whole.fresh == nil}
	for _, name := range slices.Sorted(maps.Keys(whole.live)) {
		switch name {
		case "apiVersion", "kind", "metadata", "status":
		default:
			u.field(u.fields, name, u.all, whole)
		}
	}
	return u
}

// paths returns the paths of the fields.
func (u *unowned) paths() []string {
	var out []string
	for i := range u.places {
		out = append(out, u.places[i].Text)
	}
	return out
}

// field adds the unowned parts of one field to out. With same, it also adds one that a new object has with the same value.
func (u *unowned) field(out map[string]any, name string, same bool, in unownedPart) {
	value, next := in.live[name], in.fresh[name]
	_, isFresh := in.fresh[name]
	if isAllocated(name, value, isFresh || u.all) {
		return
	}
	below := unownedPart{path: in.path + "." + name, pointer: in.pointer + fieldset.PointerToken(name)}
	var isMap, isAlso, isOwned, isPlanned bool
	below.live, isMap = value.(map[string]any)
	below.fresh, isAlso = next.(map[string]any)
	below.owned, isOwned = in.owned["f:"+name].(map[string]any)
	below.plan, isPlanned = in.plan[name].(map[string]any)
	emptied := isPlanned && len(below.plan) == 0 // the fields are not those of the plan, although it owns the object
	var part map[string]any
	switch {
	case isMap && (isAlso || u.all) && (!isOwned || len(below.owned) > 0 || emptied):
		part = u.parts(below)
	case isOwned:
		part = u.items(below, value, next, in.plan[name])
	case (u.only == nil || u.only(below.path)) && (same || !isFresh || !equality.Semantic.DeepEqual(value, next)):
		out["f:"+name] = map[string]any{}
		u.places = append(u.places, fieldset.Place{Text: below.path, Pointer: below.pointer, Value: value})
	}
	if len(part) > 0 {
		out["f:"+name] = part
	}
}

// parts returns the unowned parts of an object. If it lacks a field that a new object has, the fields next to it are in the way of the
// default, although their values are the same.
func (u *unowned) parts(in unownedPart) map[string]any {
	out := map[string]any{}
	same := u.all
	for name := range in.fresh {
		_, has := in.live[name]
		same = same || !has && !isAllocated(name, nil, true)
	}
	for _, name := range slices.Sorted(maps.Keys(in.live)) {
		u.field(out, name, same, in)
	}
	return out
}

// items returns the unowned parts of the items of a keyed list.
func (u *unowned) items(in unownedPart, live, fresh, plan any) map[string]any {
	out := map[string]any{}
	for _, key := range slices.Sorted(maps.Keys(in.owned)) {
		item := itemOf(key)
		below := unownedPart{}
		if below.owned, _ = in.owned[key].(map[string]any); item == nil || item.Keys == nil || len(below.owned) == 0 {
			continue
		}
		var at int
		below.live, at = itemIn(live, item)
		below.fresh, _ = itemIn(fresh, item)
		below.plan, _ = itemIn(plan, item)
		if below.live == nil || below.fresh == nil && !u.all {
			continue
		}
		below.path, below.pointer = in.path+"["+itemText(item)+"]", fmt.Sprintf("%s/%d", in.pointer, at)
		if part := u.parts(below); len(part) > 0 {
			out[key] = part
		}
	}
	return out
}

// itemIn returns the object in the list with the keys of the item, and its index. The object is nil if there is none.
func itemIn(list any, item *fieldset.Item) (map[string]any, int) {
	items, _ := list.([]any)
	for i, candidate := range items {
		if object, ok := candidate.(map[string]any); ok && item.Is(candidate) {
			return object, i
		}
	}
	return nil, 0
}

// ownedByAny returns the union of the fields of all managers.
func ownedByAny(entries []metav1.ManagedFieldsEntry) (map[string]any, error) {
	out := map[string]any{}
	for i := range entries {
		fields, err := fieldset.RawFields(&entries[i])
		if err != nil {
			return nil, err
		}
		fieldset.UnionFields(out, fields)
	}
	return out, nil
}

// isCurable reports whether taking over fields can help against a refusal. It cannot against missing permissions, conflicts, load, or an
// unavailable server.
func isCurable(err error) bool {
	var status apierrors.APIStatus
	if !errors.As(err, &status) || isUnfit(err) || isSecondController(err) {
		return false
	}
	switch status.Status().Code {
	case http.StatusUnauthorized, http.StatusForbidden, http.StatusNotFound, http.StatusConflict, http.StatusTooManyRequests,
		http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		return false
	}
	return true
}

// removeUnowned handles the refusal of an intent that the API server would accept for a new object. It takes over fields that no manager
// owns and that a new object would not have. It returns the error if there are none. It returns nil if the child is as planned or its
// result has the reason.
func removeUnowned(p *pass, c *child, refusal error) error {
	if !isCurable(refusal) || c.live == nil || c.action != actionApply || !mayRemoveConflicting(p, c) {
		return refusal
	}
	fresh, err := createDryRun(p, c)
	if err != nil || fresh == nil {
		return refusal //nolint:nilerr // the plan is invalid for a new object, too
	}
	live := &unstructured.Unstructured{}
	live.SetGroupVersionKind(c.kind.GVK)
	if err := p.env.live.Get(p.ctx, c.id.Key, live); err != nil || live.GetUID() != c.live.GetUID() {
		return refusal //nolint:nilerr // the next reconciliation looks again
	}
	taken, err := takeUnowned(p, c, live, live.Object, fresh, nearCauses(causesOf(refusal)))
	if err != nil {
		return err
	}
	if !taken {
		return refusal
	}
	return applyAgain(p, c)
}

// takeUnowned moves the fields that no manager owns and that a new object would not have to the engine's entry, except fields that the
// plan has rules for. It reports whether there are any. only selects them by path.
func takeUnowned(p *pass, c *child, live client.Object, content, fresh map[string]any, only func(path string) bool) (bool, error) {
	owned, err := ownedByAny(live.GetManagedFields())
	if err != nil {
		return false, err
	}
	u := unownedFields(unownedPart{live: c.withoutRuled(content), fresh: c.withoutRuled(fresh), owned: owned, plan: c.content}, only)
	if len(u.places) == 0 {
		return false, nil
	}
	return true, takeFields(p, c, live, u)
}

// withoutRuled returns a copy of the content without the fields that the plan has rules for.
func (c *child) withoutRuled(content map[string]any) map[string]any {
	content = runtime.DeepCopyJSON(content)
	for i := range c.rules {
		c.rules[i].Path.Remove(content)
	}
	return content
}

// takeFields moves the fields to the engine's entry. It sets the resourceVersion of live to that of the write.
func takeFields(p *pass, c *child, live client.Object, u unowned) error {
	metadata := &metav1.PartialObjectMetadata{}
	metadata.SetGroupVersionKind(c.kind.GVK)
	metadata.Name, metadata.Namespace = c.id.Key.Name, c.id.Key.Namespace
	metadata.ResourceVersion, metadata.ManagedFields = live.GetResourceVersion(), live.GetManagedFields()
	if err := takeOver(p, c, metadata, &foreignField{fields: u.fields}); err != nil {
		return fmt.Errorf("take over %s, which no manager owns: %w", strings.Join(u.paths(), ", "), err)
	}
	live.SetResourceVersion(metadata.ResourceVersion)
	return nil
}

// applyAgain decides the child again and applies it.
func applyAgain(p *pass, c *child) error {
	reason, outcome, fields := c.result.Reason, c.result.Outcome, c.result.Fields
	if decideChildAgain(p, c); c.action == actionNone {
		return nil
	}
	c.result.Reason = reason
	err := patchChild(p, c)
	if outcome == apply.OutcomeUpdated && c.result.Err == nil {
		c.result.Outcome, c.result.Fields = outcome, append(fields, c.result.Fields...)
	}
	return err
}

// nearCauses returns a selector for the fields next to, above and below those that a refusal names, nil for all fields if it names none.
func nearCauses(causes []metav1.StatusCause) func(path string) bool {
	if len(causes) == 0 {
		return nil
	}
	bracket := regexp.MustCompile(`\[[^\]]*\]`)
	return func(path string) bool {
		path = bracket.ReplaceAllString(path, "") + "."
		return slices.ContainsFunc(causes, func(cause metav1.StatusCause) bool {
			field := "." + bracket.ReplaceAllString(cause.Field, "")
			parent := field[:strings.LastIndex(field, ".")+1]
			return strings.HasPrefix(path, parent) || strings.HasPrefix(field, path)
		})
	}
}
