package cluster

import (
	"fmt"
	"strings"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/internal/description"
	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/internal/objects"
)

// Plain prints the namespace of the test as "default", also on a real API server.
func (w *Cluster) Plain(name string) string {
	return strings.ReplaceAll(name, " "+w.namespace+"/", " "+description.TestNamespace+"/")
}

// Finds looks an object up by kind and name.
func (w *Cluster) Finds(obj client.Object) (name string, found bool) {
	wanted := obj.DeepCopyObject().(client.Object) //nolint:forcetypeassert // a deep copy has the type of its original
	gvk, err := w.Place(wanted)
	if err != nil {
		return err.Error(), true
	}
	items, err := w.List(gvk)
	key := client.ObjectKeyFromObject(wanted)
	return objects.Name(gvk, key), err != nil || items[key] != nil
}

// Differs describes the difference between an object and its expectation, "" if there is none.
func (w *Cluster) Differs(obj client.Object) string {
	wanted := obj.DeepCopyObject().(client.Object) //nolint:forcetypeassert // as above
	gvk, err := w.Place(wanted)
	if err != nil {
		return err.Error()
	}
	want, err := objects.ToUnstructured(wanted, gvk)
	if err != nil {
		return err.Error()
	}
	all, err := w.All()
	if err != nil {
		return err.Error()
	}
	key := client.ObjectKeyFromObject(wanted)
	name := objects.Name(gvk, key)
	got := all[gvk][key]
	if got == nil {
		return fmt.Sprintf("want %s, but it does not exist; existing objects of its kind: %s", name, keysOf(all[gvk]))
	}
	expected := current(prune(want.Object), got.GetGeneration())
	content := Normalise(got, w.Identities(all))
	if diff := cmp.Diff(expected, project(content, expected)); diff != "" {
		return fmt.Sprintf("%s (-want +got):\n%s%s", name, diff, unreadyText(got))
	}
	return ""
}

// current replaces the generation of an object by the name that Normalise uses.
func current(value any, generation int64) any {
	switch v := value.(type) {
	case map[string]any:
		for key, inner := range v {
			if v[key] = current(inner, generation); key == "observedGeneration" && inner == generation {
				v[key] = currentGeneration
			}
		}
	case []any:
		for n := range v {
			v[n] = current(v[n], generation)
		}
	}
	return value
}

// unreadyText returns the reason and message of the condition Ready of an object if it is not True.
func unreadyText(u *unstructured.Unstructured) string {
	status, _ := u.Object["status"].(map[string]any)
	for _, c := range objects.Maps(status, "conditions") {
		if c["type"] == "Ready" && c["status"] != "True" {
			return fmt.Sprintf("its condition Ready is %v: %v: %v\n", c["status"], c["reason"], c["message"])
		}
	}
	return ""
}

func keysOf(items Snapshot) string {
	if len(items) == 0 {
		return "none"
	}
	names := make([]string, 0, len(items))
	for _, key := range objects.SortedKeys(items) {
		names = append(names, types.NamespacedName.String(key))
	}
	return strings.Join(names, ", ")
}

// prune removes empty maps, which Go marshals for unset structs.
func prune(value any) any {
	switch v := value.(type) {
	case map[string]any:
		out := map[string]any{}
		for key, inner := range v {
			if m, ok := inner.(map[string]any); ok && len(m) == 0 {
				continue
			}
			if kept := prune(inner); kept != nil {
				if m, ok := kept.(map[string]any); ok && len(m) == 0 {
					continue
				}
				out[key] = kept
			}
		}
		return out
	case []any:
		out := make([]any, len(v))
		for n := range v {
			out[n] = prune(v[n])
		}
		return out
	}
	return value
}

// project returns the part of a value that the expected one contains.
func project(got, want any) any {
	switch w := want.(type) {
	case map[string]any:
		g, ok := got.(map[string]any)
		if !ok {
			return got
		}
		out := map[string]any{}
		for key, inner := range w {
			if value, there := g[key]; there {
				out[key] = project(value, inner)
			}
		}
		return out
	case []any:
		g, ok := got.([]any)
		if !ok {
			return got
		}
		if byType(w) {
			return conditionsLike(g, w)
		}
		out := make([]any, len(g))
		for n := range g {
			out[n] = g[n]
			if n < len(w) {
				out[n] = project(g[n], w[n])
			}
		}
		return out
	}
	return got
}

func byType(list []any) bool {
	for _, element := range list {
		m, ok := element.(map[string]any)
		if !ok || m["type"] == nil || m["status"] == nil {
			return false
		}
	}
	return len(list) > 0
}

func conditionsLike(got, want []any) []any {
	var out []any
	for _, w := range want {
		of := w.(map[string]any)["type"] //nolint:forcetypeassert // see byType
		for _, g := range got {
			if m, ok := g.(map[string]any); ok && m["type"] == of {
				out = append(out, project(g, w))
			}
		}
	}
	return out
}
