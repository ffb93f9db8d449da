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
func (d *decider) removedFields(known []apply.FieldChange) []apply.FieldChange {
	w := &changeWriter{kind: d.id.GroupKind}
	for i := range d.unwanted {
		f := &d.unwanted[i]
		if !slices.ContainsFunc(known, func(k apply.FieldChange) bool { return k.Path == f.Text }) {
			w.line(f.Text, f.Value, content.Absent{})
		}
	}
	return w.changes
}

// changedFields returns the fields that an apply would change, computed from the object that was read. A create sets all planned fields.
func (d *decider) changedFields() []apply.FieldChange {
	w := &changeWriter{kind: d.id.GroupKind}
	if d.live == nil {
		w.values("", content.Absent{}, d.content)
		return w.changes
	}
	if d.observed.Content == nil {
		var err error
		if d.observed, err = fieldset.Observe(d.facts.encoder, d.live, d.manager); err != nil {
			return nil
		}
	}
	comparison := fieldset.Comparison{Schema: d.kind.Schema, Report: func(diff fieldset.Difference) {
		if diff.Unowned {
			w.line(diff.Path, diff.Live, diff.Live)
			return
		}
		w.values(diff.Path, diff.Live, diff.Intent)
	}}
	comparison.Object(d.observed.Own.Set, d.content, d.observed.Content)
	return append(w.changes, d.removedFields(w.changes)...)
}

// changeWriter collects the changed fields of a child.
type changeWriter struct {
	kind    schema.GroupKind
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
	if w.kind == (schema.GroupKind{Kind: "Secret"}) && (strings.HasPrefix(path, ".data") || strings.HasPrefix(path, ".stringData")) {
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
