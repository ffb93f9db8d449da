package oracle

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/reconcilekit/reconcilekit/reconcile/apply"
)

// firstApply is the manager of existing fields if a client applies to an object without managedFields.
const firstApply = "before-first-apply"

// ownedBy returns the owned leaves of the object: ours by apply, or those of all others.
func ownedBy(o map[string]any, ours bool) map[string][]string {
	out := map[string][]string{}
	metadata, _ := o["metadata"].(map[string]any)
	entries, _ := metadata["managedFields"].([]any)
	for _, entry := range entries {
		e, _ := entry.(map[string]any)
		name, _ := e["manager"].(string)
		mine := strings.HasPrefix(name, fieldManager) && e["operation"] == "Apply" && e["subresource"] == nil
		if mine != ours || name == firstApply {
			continue
		}
		fields, _ := e["fieldsV1"].(map[string]any)
		leaves(out, nil, fields)
	}
	return out
}

func leaves(out map[string][]string, path []string, fields map[string]any) {
	below := false
	for name, value := range fields {
		if name == "." {
			continue
		}
		below = true
		m, _ := value.(map[string]any)
		leaves(out, append(slices.Clone(path), name), m)
	}
	if !below && len(path) > 0 {
		out[strings.Join(path, " ")] = path
	}
}

// fieldsOnly returns the names of the fields on a path of managedFields, and false if the path contains list items.
func fieldsOnly(path []string) ([]string, bool) {
	names := make([]string, 0, len(path))
	for _, element := range path {
		name, ok := strings.CutPrefix(element, "f:")
		if !ok {
			return nil, false
		}
		names = append(names, name)
	}
	return names, true
}

// overlaps reports whether one of the paths equals, contains or is below the path.
func overlaps(paths map[string][]string, path string) bool {
	for other := range paths {
		if strings.HasPrefix(other+" ", path+" ") || strings.HasPrefix(path+" ", other+" ") {
			return true
		}
	}
	return false
}

// leadsTo reports whether one of the paths is below the path.
func leadsTo(path string, paths map[string][]string) bool {
	for other := range paths {
		if strings.HasPrefix(other, path+" ") {
			return true
		}
	}
	return false
}

// noteLost records the fields that only we owned when our entry of managedFields is removed, or a part of it. Only an engine that ran
// before can know them.
func (c *child) noteLost(before map[string]any, wasChecked, cut bool) {
	if c.live == nil {
		c.lost = nil
		return
	}
	left := ownedBy(c.live, true)
	if !wasChecked || (len(left) > 0 && !cut) {
		return
	}
	ours, others := ownedBy(before, true), ownedBy(before, false)
	if c.mode == apply.Shared { // the part of a former manager's plan remains
		withoutThoseOf(ours, before, formerManager)
	}
	if cut { // fields that the API server owns since an earlier, unknown loss remain its own
		withoutThoseOf(ours, before, firstApply)
	}
	for name := range c.lost {
		if _, mine := ours[name]; !mine && overlaps(others, name) {
			delete(c.lost, name) // it belonged to another client before
		}
	}
	for name, path := range ours {
		if overlaps(others, name) || left[name] != nil {
			continue
		}
		if c.lost == nil {
			c.lost = map[string][]string{}
		}
		c.lost[name] = path
	}
}

// withoutThoseOf removes the leaves that the manager owns in the object.
func withoutThoseOf(owned map[string][]string, o map[string]any, manager string) {
	for _, entry := range entriesOf(o, manager) {
		fields, _ := entry.(map[string]any)
		theirs := map[string][]string{}
		leaves(theirs, nil, fields)
		maps.DeleteFunc(owned, func(name string, _ []string) bool { return theirs[name] != nil })
	}
}

// notLeftBehind checks that fields that left the plan after managedFields were lost are removed from the object, unless others own them
// or the server sets them.
func (s *sequence) notLeftBehind(c *child, rests bool) {
	if c.mode == apply.Once || len(c.lost) == 0 || !rests || c.live == nil || s.broken != "" {
		return
	}
	ours, others := ownedBy(c.live, true), ownedBy(c.live, false)
	stay := map[string][]string{}
	for _, rule := range c.now.rules {
		if rule.Policy == policy(apply.CreateOnly) || rule.Policy == policy(apply.Ignore) { // existing values remain
			stay["f:"+strings.Join(fieldNames(rule.Path), " f:")] = nil
		}
	}
	for name, path := range c.lost {
		if overlaps(stay, name) {
			continue
		}
		_, mine := ours[name]
		shared := overlaps(others, name)
		if !exists(c.live, path) {
			delete(c.lost, name) // it was removed; another client sets it again
			continue
		}
		if shared && !mine {
			delete(c.lost, name) // another client owns it, also after another loss of managedFields
			continue
		}
		if mine || s.filledIn(c, path) {
			continue
		}
		s.fail("left behind", name+" was owned when managedFields were lost, was removed from the plan, and still exists",
			"live: "+full(c.live))
		return
	}
}

// filledIn reports whether the server sets a value there, as for a new object with the same plan. A list or an object that loses its last
// part is removed although it is planned as empty, so the server may set a default there as well.
func (s *sequence) filledIn(c *child, path []string) bool {
	in := s.capture(c, nil)
	if in == nil {
		return true
	}
	body := parse(in.body)
	return s.filledInto(c, in.manager, body, path) || s.filledInto(c, in.manager, withoutHollow(body), path) || s.comesBack(c, path)
}

// comesBack reports whether the server sets the value at the path again after its removal, or rejects the removal.
func (s *sequence) comesBack(c *child, path []string) bool {
	object := runtime.DeepCopyJSON(c.live)
	removeOwned(object, path)
	if exists(object, path) {
		return false
	}
	u := &unstructured.Unstructured{Object: object}
	u.SetManagedFields(nil)
	if err := s.oracle.client.Update(s.ctx, u, client.DryRunAll); err != nil {
		return apierrors.IsInvalid(err)
	}
	return exists(u.Object, path)
}

// filledInto reports whether a new object with the body has a value at the path, or is rejected.
func (s *sequence) filledInto(c *child, manager string, body map[string]any, path []string) bool {
	metadata, _ := body["metadata"].(map[string]any)
	metadata["name"] = c.key.Name + "-new"
	fresh := c.reference()
	fresh.SetName(c.key.Name + "-new")
	text, err := jsonText(body)
	if err != nil {
		return true
	}
	renamed := &intent{manager: manager, body: []byte(text)}
	if err := s.oracle.client.Patch(s.ctx, fresh, renamed.patch(), renamed.dryRun()...); client.IgnoreNotFound(err) != nil {
		return true
	}
	return exists(jsonOf(fresh), path)
}

// withoutHollow returns the map without lists and objects that contain nothing else.
func withoutHollow(m map[string]any) map[string]any {
	out := map[string]any{}
	for name, value := range m {
		switch x := value.(type) {
		case map[string]any:
			if below := withoutHollow(x); len(below) > 0 {
				out[name] = below
			}
		case []any:
			if len(x) > 0 {
				out[name] = x
			}
		default:
			out[name] = value
		}
	}
	return out
}

// exists reports whether the object has a value at a path of managedFields.
func exists(value any, path []string) bool {
	if len(path) == 0 {
		return true
	}
	kind, text, _ := strings.Cut(path[0], ":")
	rest := path[1:]
	if kind == "f" {
		m, _ := value.(map[string]any)
		below, ok := m[text]
		return ok && exists(below, rest)
	}
	items, _ := value.([]any)
	var want any
	_ = json.Unmarshal([]byte(text), &want)
	for _, item := range items {
		if kind == "k" && hasKeys(item, want) || kind == "v" && fmt.Sprint(item) == fmt.Sprint(want) {
			return exists(item, rest)
		}
	}
	return false
}

func hasKeys(item, keys any) bool {
	m, _ := item.(map[string]any)
	want, _ := keys.(map[string]any)
	found := false
	for name, value := range want {
		have, has := m[name]
		if has && !reflect.DeepEqual(fmt.Sprint(have), fmt.Sprint(value)) {
			return false
		}
		found = found || has // omitted fields may be defaults
	}
	return found
}

// removeWithHollow removes the value at the path, and parents that become empty.
func removeWithHollow(body map[string]any, path []string) {
	removeOwned(body, path)
	for above := len(path) - 1; above > 0 && isHollow(body, path[:above]); above-- {
		removeOwned(body, path[:above])
	}
}

// isHollow reports whether the value at the path is an object without fields.
func isHollow(value any, path []string) bool {
	if len(path) == 0 {
		m, isMap := value.(map[string]any)
		return isMap && len(m) == 0
	}
	kind, text, _ := strings.Cut(path[0], ":")
	if kind == "f" {
		m, _ := value.(map[string]any)
		return isHollow(m[text], path[1:])
	}
	items, _ := value.([]any)
	var want any
	_ = json.Unmarshal([]byte(text), &want)
	return slices.ContainsFunc(items, func(item any) bool { return kind == "k" && hasKeys(item, want) && isHollow(item, path[1:]) })
}

// removeOwned removes the value at a path of managedFields.
func removeOwned(value any, path []string) {
	kind, text, _ := strings.Cut(path[0], ":")
	if kind == "f" {
		m, _ := value.(map[string]any)
		if len(path) == 1 {
			delete(m, text)
		} else {
			removeOwned(m[text], path[1:])
		}
		return
	}
	items, _ := value.([]any)
	var want any
	_ = json.Unmarshal([]byte(text), &want)
	for _, item := range items {
		if kind == "k" && hasKeys(item, want) && len(path) > 1 {
			removeOwned(item, path[1:])
		}
	}
}
