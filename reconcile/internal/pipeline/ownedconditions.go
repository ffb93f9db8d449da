package pipeline

import (
	"encoding/json"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// ownedConditions returns a function that reports, from an object's managedFields, whether the field managers own a condition type in
// status.conditions; the result is for RemoveStale of package conditions. It finds types only if the list is a map list by type. Otherwise
// (see wholeList), and without managedFields, no type is owned. The first call of the function reads the fields.
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

// wholeList reports whether one of the field managers was the last to write status.conditions as one value. All managers do that if
// the list is not a map list by type (x-kubernetes-list-type atomic, the default of CRDs). Then managedFields do not show which manager
// wrote which condition; some may belong to other writers.
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

// eachConditions calls do with the fields of status.conditions in each entry of the managers; nil if the entry has none.
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
