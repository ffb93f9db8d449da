package oracle

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/reconcilekit/reconcilekit/internal/oracle/shape"
)

// writer is one kind of write of another client.
type writer struct {
	name  string
	share int
	write func(ctx context.Context, c client.Client, r *rand.Rand, k *Kind, live map[string]any, by string) (string, error)
}

// writers returns the kinds of writes with their frequency.
func writers() []writer {
	return []writer{
		{"update", 4, update},
		{"merge patch", 4, mergePatch},
		{"json patch", 2, jsonPatch},
		{"apply", 4, applyOther(false, true)},
		{"forced apply", 3, applyOther(true, true)},
		{"apply of the same content", 2, applyOther(false, false)},
		{"replace", 1, replace},
		{"scale", 1, scale},
		{"status", 1, status},
		{"wiped managedFields", 2, wipe},
		{"dropped managedFields entry", 1, dropEntry},
		{cutFields, 2, cut},
		{"removed label", 1, removeMetadata("labels")},
		{"removed owner reference", 1, removeMetadata("ownerReferences")},
		{"delete", 1, remove},
		{restored, 1, restore},
	}
}

// foreigners returns the field managers of other clients; the first one is the engine's own, as an older version of an operator could
// have used it.
func foreigners() []string {
	return []string{fieldManager, formerManager, "kubectl-edit", "other", "autoscaler"}
}

// foreignWrite changes the object as another client.
func foreignWrite(ctx context.Context, c client.Client, r *rand.Rand, k *Kind, live map[string]any) (string, error) {
	all := writers()
	total := 0
	for _, w := range all {
		total += w.share
	}
	n := r.IntN(total)
	for _, w := range all {
		if n -= w.share; n < 0 {
			by := foreigners()[r.IntN(len(foreigners()))]
			description, err := w.write(ctx, c, r, k, runtime.DeepCopyJSON(live), by)
			return fmt.Sprintf("%s by %s: %s", w.name, by, description), err
		}
	}
	return "", nil
}

// mutated returns the object with a few changes and the same identity.
func mutated(r *rand.Rand, k *Kind, live map[string]any) (map[string]any, string) {
	value, description := k.shape.Mutate(r, content(live))
	if r.IntN(2) == 0 {
		var more string
		value, more = k.shape.Mutate(r, value)
		description += "; " + more
	}
	out := runtime.DeepCopyJSON(live)
	next, ok := value.(map[string]any)
	if !ok {
		return out, "nothing"
	}
	for name := range content(live) {
		if name != "metadata" {
			delete(out, name)
		}
	}
	for name, v := range next {
		if name != "metadata" {
			out[name] = v
		}
	}
	metadata, _ := out["metadata"].(map[string]any)
	changed, _ := next["metadata"].(map[string]any)
	for _, name := range []string{"labels", "annotations"} {
		if v, ok := changed[name]; ok {
			metadata[name] = v
		} else {
			delete(metadata, name)
		}
	}
	return out, description
}

// content returns the parts of a stored object that an author can set.
func content(live map[string]any) map[string]any {
	out := map[string]any{}
	for name, value := range live {
		switch name {
		case "apiVersion", "kind", "status":
		case "metadata":
			given, _ := value.(map[string]any)
			kept := map[string]any{}
			for _, name := range []string{"labels", "annotations"} {
				if v, ok := given[name]; ok {
					kept[name] = v
				}
			}
			out["metadata"] = kept
		default:
			out[name] = value
		}
	}
	return out
}

func update(ctx context.Context, c client.Client, r *rand.Rand, k *Kind, live map[string]any, by string) (string, error) {
	next, description := mutated(r, k, live)
	return description, c.Update(ctx, &unstructured.Unstructured{Object: next}, client.FieldOwner(by))
}

func mergePatch(ctx context.Context, c client.Client, r *rand.Rand, k *Kind, live map[string]any, by string) (string, error) {
	next, description := mutated(r, k, live)
	return description, patch(ctx, c, live, types.MergePatchType, mergeOf(live, next), by)
}

// mergeOf returns the JSON merge patch from one object to another.
func mergeOf(from, to map[string]any) map[string]any {
	out := map[string]any{}
	for name, old := range from {
		value, ok := to[name]
		if !ok {
			out[name] = nil
			continue
		}
		before, isMap := old.(map[string]any)
		after, bothMaps := value.(map[string]any)
		if isMap && bothMaps {
			if below := mergeOf(before, after); len(below) > 0 {
				out[name] = below
			}
		} else if shape.Text(old) != shape.Text(value) {
			out[name] = value
		}
	}
	for name, value := range to {
		if _, ok := from[name]; !ok {
			out[name] = value
		}
	}
	return out
}

func jsonPatch(ctx context.Context, c client.Client, r *rand.Rand, k *Kind, live map[string]any, by string) (string, error) {
	next, description := mutated(r, k, live)
	ops := []any{}
	for name, value := range content(next) {
		if name != "metadata" {
			ops = append(ops, map[string]any{"op": "add", "path": "/" + name, "value": value})
		}
	}
	return description, patch(ctx, c, live, types.JSONPatchType, ops, by)
}

// applyOther applies a part of the object, with other values or the same.
func applyOther(force, change bool) func(context.Context, client.Client, *rand.Rand, *Kind, map[string]any, string) (string, error) {
	return func(ctx context.Context, c client.Client, r *rand.Rand, k *Kind, live map[string]any, by string) (string, error) {
		if by == fieldManager {
			by = "other"
		}
		value, description := any(content(live)), "the same"
		if change {
			value, description = k.shape.Mutate(r, value)
		}
		part, ok := thin(r, value).(map[string]any)
		if !ok {
			return "nothing", nil
		}
		part["apiVersion"], part["kind"] = live["apiVersion"], live["kind"]
		o := identity(live)
		part["metadata"] = map[string]any{"name": o.GetName(), "namespace": o.GetNamespace()}
		data, err := json.Marshal(part)
		if err != nil {
			return description, err
		}
		opts := []client.PatchOption{client.FieldOwner(by)}
		if force {
			opts = append(opts, client.ForceOwnership)
		}
		return description + "; " + shape.Text(part), c.Patch(ctx, o, client.RawPatch(types.ApplyPatchType, data), opts...)
	}
}

// thin removes fields at random, but not in lists, because items need their keys.
func thin(r *rand.Rand, value any) any {
	m, ok := value.(map[string]any)
	if !ok {
		return value
	}
	out := map[string]any{}
	for _, name := range sorted(m) {
		if r.IntN(2) == 0 {
			out[name] = thin(r, m[name])
		}
	}
	return out
}

// replace writes the object without labels, annotations and owner references.
func replace(ctx context.Context, c client.Client, r *rand.Rand, k *Kind, live map[string]any, by string) (string, error) {
	next, description := mutated(r, k, live)
	o := identity(live)
	next["metadata"] = o.Object["metadata"]
	return description, c.Update(ctx, &unstructured.Unstructured{Object: next}, client.FieldOwner(by))
}

func scale(ctx context.Context, c client.Client, r *rand.Rand, k *Kind, live map[string]any, by string) (string, error) {
	switch k.gvk.Kind {
	case "Deployment", "StatefulSet":
	default:
		return update(ctx, c, r, k, live, by)
	}
	n := r.IntN(4)
	o := identity(live)
	body := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "autoscaling/v1", "kind": "Scale",
		"metadata": map[string]any{"name": o.GetName(), "namespace": o.GetNamespace()}, "spec": map[string]any{"replicas": int64(n)},
	}}
	return strconv.Itoa(n), c.SubResource("scale").Update(ctx, o, client.WithSubResourceBody(body), client.FieldOwner(by))
}

func status(ctx context.Context, c client.Client, r *rand.Rand, _ *Kind, live map[string]any, by string) (string, error) {
	data := fmt.Sprintf(`{"status":{"observedGeneration":%d}}`, r.IntN(100))
	return data, c.Status().Patch(ctx, identity(live), client.RawPatch(types.MergePatchType, []byte(data)), client.FieldOwner(by))
}

func wipe(ctx context.Context, c client.Client, _ *rand.Rand, _ *Kind, live map[string]any, by string) (string, error) {
	return "all", patch(ctx, c, live, types.JSONPatchType, []any{
		map[string]any{"op": "replace", "path": "/metadata/managedFields", "value": []any{map[string]any{}}},
	}, by)
}

func dropEntry(ctx context.Context, c client.Client, r *rand.Rand, _ *Kind, live map[string]any, by string) (string, error) {
	metadata, _ := live["metadata"].(map[string]any)
	entries, _ := metadata["managedFields"].([]any)
	if len(entries) < 2 {
		return "none", nil
	}
	i := r.IntN(len(entries))
	dropped, _ := entries[i].(map[string]any)
	rest := append(append([]any{}, entries[:i]...), entries[i+1:]...)
	return fmt.Sprint(dropped["manager"], " ", dropped["operation"]), patch(ctx, c, live, types.JSONPatchType, []any{
		map[string]any{"op": "replace", "path": "/metadata/managedFields", "value": rest},
	}, by)
}

// cutFields is the write that removes only fields from our entry of managedFields.
const cutFields = "cut managedFields"

func cut(ctx context.Context, c client.Client, r *rand.Rand, _ *Kind, live map[string]any, by string) (string, error) {
	metadata, _ := live["metadata"].(map[string]any)
	entries, _ := metadata["managedFields"].([]any)
	for _, entry := range entries {
		e, _ := entry.(map[string]any)
		manager, _ := e["manager"].(string)
		if fields, ok := e["fieldsV1"].(map[string]any); ok && strings.HasPrefix(manager, fieldManager) && e["operation"] == "Apply" {
			description := cutOne(r, fields, parts("", fields))
			return description, patch(ctx, c, live, types.JSONPatchType, []any{
				map[string]any{"op": "replace", "path": "/metadata/managedFields", "value": entries},
			}, by)
		}
	}
	return "none", nil
}

// cutOne removes one of the named fields with everything below it, and empty parents. It returns the path.
func cutOne(r *rand.Rand, fields map[string]any, names []string) string {
	if len(names) == 0 {
		return ""
	}
	name := names[r.IntN(len(names))]
	below, _ := fields[name].(map[string]any)
	if names := parts(name, below); len(names) > 0 && r.IntN(4) > 0 {
		description := cutOne(r, below, names)
		if len(below) == 0 {
			delete(fields, name)
		}
		return name + " " + description
	}
	delete(fields, name)
	return name
}

// parts returns the names below one that can be removed: the keys of an item are removed only with the item.
func parts(name string, fields map[string]any) []string {
	var keys map[string]any
	if text, item := strings.CutPrefix(name, "k:"); item {
		_ = json.Unmarshal([]byte(text), &keys)
	}
	return slices.DeleteFunc(slices.Sorted(maps.Keys(fields)), func(part string) bool {
		_, isKey := keys[strings.TrimPrefix(part, "f:")]
		return part == "." || isKey
	})
}

func removeMetadata(field string) func(context.Context, client.Client, *rand.Rand, *Kind, map[string]any, string) (string, error) {
	return func(ctx context.Context, c client.Client, _ *rand.Rand, _ *Kind, live map[string]any, by string) (string, error) {
		return field, patch(ctx, c, live, types.MergePatchType, map[string]any{"metadata": map[string]any{field: nil}}, by)
	}
}

func remove(ctx context.Context, c client.Client, _ *rand.Rand, _ *Kind, live map[string]any, _ string) (string, error) {
	if live["kind"] == "PersistentVolumeClaim" {
		return "nothing", nil // it remains until a controller removes its protection
	}
	return "it", c.Delete(ctx, identity(live), client.PropagationPolicy(metav1.DeletePropagationBackground))
}

// restored is the write of a tool that restores an object from a backup.
const restored = "restored from a backup"

// restore replaces the object by one with the same content and labels, a new UID, and neither owner references nor our managedFields.
func restore(ctx context.Context, c client.Client, r *rand.Rand, k *Kind, live map[string]any, by string) (string, error) {
	backup := &unstructured.Unstructured{Object: content(live)}
	backup.SetGroupVersionKind(k.gvk)
	backup.SetName(identity(live).GetName())
	backup.SetNamespace(identity(live).GetNamespace())
	dry := backup.DeepCopy()
	dry.SetName(backup.GetName() + "-dry")
	if err := c.Create(ctx, dry, client.DryRunAll); err != nil {
		return "", err // the server accepts no object with these values
	}
	if description, err := remove(ctx, c, r, k, live, by); err != nil || description == "nothing" {
		return description, err
	}
	return "with a new UID", c.Create(ctx, backup, client.FieldOwner("backup"))
}

func patch(ctx context.Context, c client.Client, live map[string]any, form types.PatchType, body any, by string) error {
	data, err := json.Marshal(body)
	if err != nil {
		return err
	}
	return c.Patch(ctx, identity(live), client.RawPatch(form, data), client.FieldOwner(by))
}

// identity returns the object with only its kind and name.
func identity(live map[string]any) *unstructured.Unstructured {
	metadata, _ := live["metadata"].(map[string]any)
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": live["apiVersion"], "kind": live["kind"],
		"metadata": map[string]any{"name": metadata["name"], "namespace": metadata["namespace"]},
	}}
}
