package apply

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/content"
)

// values renders the change from one value to another, down to the fields that
// differ.
func (d *diffWriter) values(c *planned, path string, from, to any) {
	if reflect.DeepEqual(from, to) {
		return
	}
	fromMap, fromIs := from.(map[string]any)
	toMap, toIs := to.(map[string]any)
	if (fromIs || content.IsAbsent(from)) && (toIs || content.IsAbsent(to)) && len(fromMap)+len(toMap) > 0 {
		for _, name := range unionKeys(fromMap, toMap) {
			d.values(c, path+"."+name, valueOrAbsent(fromMap, name), valueOrAbsent(toMap, name))
		}
		return
	}
	fromList, fromIs := from.([]any)
	toList, toIs := to.([]any)
	if fromIs && toIs && len(fromList) == len(toList) {
		for i := range fromList {
			d.values(c, path+"["+strconv.Itoa(i)+"]", fromList[i], toList[i])
		}
		return
	}
	d.line(c, path, from, to)
}

func (d *diffWriter) line(c *planned, path string, from, to any) {
	old, now := render(from), render(to)
	if c.id.GroupKind == (schema.GroupKind{Kind: "Secret"}) && (strings.HasPrefix(path, ".data") || strings.HasPrefix(path, ".stringData")) {
		old, now = "***", "***"
	}
	switch {
	case content.IsAbsent(from):
		fmt.Fprintf(&d.out, "  + %s: %s\n", path, now)
	case content.IsAbsent(to):
		fmt.Fprintf(&d.out, "  - %s: %s\n", path, old)
	default:
		fmt.Fprintf(&d.out, "  ~ %s: %s -> %s\n", path, old, now)
	}
}

func unionKeys(a, b map[string]any) []string {
	all := make(map[string]struct{}, len(a)+len(b))
	for k := range a {
		all[k] = struct{}{}
	}
	for k := range b {
		all[k] = struct{}{}
	}
	return slices.Sorted(maps.Keys(all))
}

func valueOrAbsent(m map[string]any, name string) any {
	if v, ok := m[name]; ok {
		return v
	}
	return content.Absent{}
}

func render(value any) string {
	data, err := json.Marshal(value)
	if err != nil {
		return fmt.Sprint(value)
	}
	return string(data)
}
