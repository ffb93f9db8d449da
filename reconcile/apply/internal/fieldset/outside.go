package fieldset

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/content"
)

// Outside returns the paths of owned fields that are missing in value, each at the highest missing node, sorted.
func (s *Set) Outside(value any) []string {
	paths := s.outside(nil, "", value)
	slices.Sort(paths)
	return paths
}

func (s *Set) outside(paths []string, at string, value any) []string {
	fields, _ := value.(map[string]any)
	for i := range s.Fields {
		f := &s.Fields[i]
		below, exists := fields[f.Name]
		if !exists {
			paths = append(paths, at+"."+f.Name)
			continue
		}
		paths = f.Set.outside(paths, at+"."+f.Name, below)
	}
	items, _ := value.([]any)
	for i := range s.Items {
		it := &s.Items[i]
		at := at + it.selector()
		if found := slices.IndexFunc(items, it.Names); found < 0 {
			paths = append(paths, at)
		} else {
			paths = it.Set.outside(paths, at, items[found])
		}
	}
	return paths
}

// selector formats the item as the API server does: [name="web"], or ["value"].
func (it *Item) selector() string {
	if it.Keys == nil {
		return "[" + rendered(it.Value) + "]"
	}
	keys := make([]string, 0, len(it.Keys))
	for key, value := range it.Keys {
		keys = append(keys, key+"="+rendered(value))
	}
	slices.Sort(keys)
	return "[" + strings.Join(keys, ",") + "]"
}

func rendered(value any) string {
	if content.IsAbsent(value) {
		return ""
	}
	data, err := json.Marshal(value)
	if err != nil {
		return "?" // not the value of a parsed entry
	}
	return string(data)
}
