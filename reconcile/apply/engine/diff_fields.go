package engine

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/reconcilekit/reconcilekit/reconcile/apply"
	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/content"
	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/fieldset"
)

// removedFields returns the changes of a removal that known does not contain.
func removedFields(c *child, known []apply.FieldChange) []apply.FieldChange {
	w := &changeWriter{child: c}
	for i := range c.unwanted {
		f := &c.unwanted[i]
		if !slices.ContainsFunc(known, func(k apply.FieldChange) bool { return k.Path == f.Text }) {
			w.line(f.Text, f.Value, content.Absent{})
		}
	}
	return w.changes
}

// changedFields returns the fields that an apply would change, computed from the object that was read. A create sets all planned fields.
func changedFields(p *pass, c *child) []apply.FieldChange {
	w := &changeWriter{child: c}
	if c.live == nil {
		w.values("", content.Absent{}, c.content)
		return w.changes
	}
	if c.observed.Content == nil {
		var err error
		if c.observed, err = fieldset.Observe(p.env.encoder, c.live, c.manager); err != nil {
			return nil
		}
	}
	comparison := fieldset.Comparison{Schema: c.kind.Schema, Report: func(diff fieldset.Difference) {
		if diff.Unowned {
			w.line(diff.Path, diff.Live, diff.Live)
			return
		}
		w.values(diff.Path, diff.Live, diff.Intent)
	}}
	comparison.Object(c.observed.Own.Set, c.content, c.observed.Content)
	return append(w.changes, removedFields(c, w.changes)...)
}

// changeWriter collects the changed fields of a child.
type changeWriter struct {
	child   *child
	changes []apply.FieldChange
}

// values adds the change between two values, down to the fields that differ.
func (w *changeWriter) values(path string, from, to any) {
	if reflect.DeepEqual(from, to) {
		return
	}
	fromMap, fromIs := from.(map[string]any)
	toMap, toIs := to.(map[string]any)
	if (fromIs || content.IsAbsent(from)) && (toIs || content.IsAbsent(to)) && len(fromMap)+len(toMap) > 0 {
		for _, name := range unionKeys(fromMap, toMap) {
			w.values(path+"."+name, valueOrAbsent(fromMap, name), valueOrAbsent(toMap, name))
		}
		return
	}
	fromList, fromIs := from.([]any)
	toList, toIs := to.([]any)
	if fromIs && toIs && len(fromList) == len(toList) {
		for i := range fromList {
			w.values(path+"["+strconv.Itoa(i)+"]", fromList[i], toList[i])
		}
		return
	}
	w.line(path, from, to)
}

func (w *changeWriter) line(path string, from, to any) {
	f := apply.FieldChange{Path: path, From: render(from), To: render(to)}
	if w.child.id.GroupKind == (schema.GroupKind{Kind: "Secret"}) && (strings.HasPrefix(path, ".data") || strings.HasPrefix(path, ".stringData")) {
		f.From, f.To = masked(f, f.From, ""), masked(f, f.To, " (changed)")
	}
	w.changes = append(w.changes, f)
}

// masked returns only whether a secret value exists and whether it differs.
func masked(f apply.FieldChange, value, changed string) string {
	switch {
	case value == "":
		return ""
	case f.From == "" || f.From == f.To:
		return "***"
	}
	return "***" + changed
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
	if content.IsAbsent(value) {
		return ""
	}
	data, err := json.Marshal(value)
	if err != nil {
		return fmt.Sprint(value)
	}
	return string(data)
}
