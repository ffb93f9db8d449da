package pipeline

import (
	"encoding/json"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// ownedConditions reads from an object's managedFields which condition types the field managers own in status.conditions; the result is for
// RemoveStale of package conditions. Types are found where the list is a map list by type; elsewhere (see wholeList), and where
// managedFields were stripped, none is owned. Nothing is read before the function is called for the first time.
func ownedConditions(fields []metav1.ManagedFieldsEntry, managers ...string) func(conditionType string) bool {
	var types []string
	read := false
	return func(conditionType string) bool {
		if !read {
			types, read = ownedTypes(fields, managers), true
		}
		return slices.Contains(types, conditionType)
	}
}

// wholeList reports whether one of the field managers was the last to write status.conditions as one value, as everybody does where
// the list is not a map list by type (x-kubernetes-list-type atomic, the default of CRDs). managedFields do not have then who
// has written which of the conditions; some may be those of other writers.
func wholeList(fields []metav1.ManagedFieldsEntry, managers ...string) bool {
	whole := false
	eachConditions(fields, managers, func(items map[string]json.RawMessage) {
		whole = whole || (items != nil && len(items) == 0)
	})
	return whole
}

func ownedTypes(fields []metav1.ManagedFieldsEntry, managers []string) []string {
	var types []string
	eachConditions(fields, managers, func(items map[string]json.RawMessage) {
		for key := range items {
			var named struct {
				Type string `json:"type"`
			}
			if len(key) > 2 && key[:2] == "k:" && json.Unmarshal([]byte(key[2:]), &named) == nil && named.Type != "" {
				types = append(types, named.Type)
			}
		}
	})
	return types
}

// eachConditions calls do with the fields of status.conditions in each entry of the managers; nil if it has none there.
func eachConditions(fields []metav1.ManagedFieldsEntry, managers []string, do func(items map[string]json.RawMessage)) {
	for _, entry := range fields {
		if entry.FieldsV1 == nil || !slices.Contains(managers, entry.Manager) {
			continue
		}
		var set struct {
			Status struct {
				Conditions map[string]json.RawMessage `json:"f:conditions"`
			} `json:"f:status"`
		}
		if json.Unmarshal(entry.FieldsV1.GetRawBytes(), &set) == nil {
			do(set.Status.Conditions)
		}
	}
}
