package oracle

import (
	"fmt"
	"maps"
	"reflect"
	"slices"

	"github.com/reconcilekit/reconcilekit/internal/oracle/shape"
)

// differences returns the differences between two versions of an object, without fields that change with each write, and the differences
// of our manager's ownership. Other managers are ignored: a forced apply takes an atomic list from its owner whenever the server sets
// defaults in it.
func differences(before, after map[string]any, manager string) []string {
	var out []string
	compare(&out, "", withoutVersions(before), withoutVersions(after))
	compare(&out, "managedFields", entriesOf(before, manager), entriesOf(after, manager))
	slices.Sort(out)
	return out
}

func withoutVersions(o map[string]any) map[string]any {
	out := maps.Clone(o)
	metadata, _ := o["metadata"].(map[string]any)
	kept := map[string]any{}
	for name, value := range metadata {
		switch name {
		case "managedFields", "resourceVersion", "generation":
		default:
			kept[name] = value
		}
	}
	out["metadata"] = kept
	return out
}

// entriesOf maps the entries of a manager to their fields.
func entriesOf(o map[string]any, manager string) map[string]any {
	out := map[string]any{}
	metadata, _ := o["metadata"].(map[string]any)
	entries, _ := metadata["managedFields"].([]any)
	for _, entry := range entries {
		e, _ := entry.(map[string]any)
		if e["manager"] == manager {
			out[fmt.Sprint(e["operation"], " ", e["apiVersion"], " ", e["subresource"])] = e["fieldsV1"]
		}
	}
	return out
}

// compare appends the paths at which the values differ.
func compare(out *[]string, path string, a, b any) {
	x, isMap := a.(map[string]any)
	y, bothMaps := b.(map[string]any)
	if isMap && bothMaps {
		for name := range x {
			if below, ok := y[name]; ok {
				compare(out, path+"."+name, x[name], below)
			} else {
				*out = append(*out, path+"."+name+": "+shape.Text(x[name])+" -> absent")
			}
		}
		for name := range y {
			if _, ok := x[name]; !ok {
				*out = append(*out, path+"."+name+": absent -> "+shape.Text(y[name]))
			}
		}
		return
	}
	if !reflect.DeepEqual(a, b) {
		*out = append(*out, path+": "+shape.Text(a)+" -> "+shape.Text(b))
	}
}
