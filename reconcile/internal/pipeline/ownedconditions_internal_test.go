package pipeline

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func entry(manager, fields string) metav1.ManagedFieldsEntry {
	return metav1.ManagedFieldsEntry{Manager: manager, Subresource: "status", FieldsV1: metav1.NewFieldsV1(fields)}
}

func TestTypes(t *testing.T) {
	t.Parallel()
	fields := []metav1.ManagedFieldsEntry{
		entry("me", `{"f:status":{"f:conditions":{".":{},"k:{\"type\":\"Ready\"}":{"f:status":{}},"k:{\"type\":\"AReady\"}":{}}}}`),
		entry("you", `{"f:status":{"f:conditions":{"k:{\"type\":\"Theirs\"}":{}}}}`),
		entry("former", `{"f:status":{"f:conditions":{"k:{\"type\":\"Earlier\"}":{}}}}`),
		entry("me", `{"f:spec":{}}`),
		entry("me", `not json`),
		{Manager: "me"},
	}
	for name, tc := range map[string]struct {
		fields   []metav1.ManagedFieldsEntry
		managers []string
		want     map[string]bool
	}{
		"one manager":  {fields, []string{"me"}, map[string]bool{"Ready": true, "AReady": true, "Earlier": false, "Theirs": false, ".": false}},
		"two managers": {fields, []string{"me", "former"}, map[string]bool{"Ready": true, "AReady": true, "Earlier": true, "Theirs": false, ".": false}},
		"no manager":   {fields, nil, map[string]bool{"Ready": false, "Theirs": false}},
		"stripped":     {nil, []string{"me"}, map[string]bool{"Ready": false}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			owned, got := ownedConditions(tc.fields, tc.managers...), map[string]bool{}
			for conditionType := range tc.want {
				got[conditionType] = owned(conditionType)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("-want +got\n%s", diff)
			}
		})
	}
}

func TestWholeList(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		fields []metav1.ManagedFieldsEntry
		want   bool
	}{
		"entire list, own manager":   {[]metav1.ManagedFieldsEntry{entry("me", `{"f:status":{"f:conditions":{}}}`)}, true},
		"entire list, other manager": {[]metav1.ManagedFieldsEntry{entry("you", `{"f:status":{"f:conditions":{}}}`), entry("me", `{"f:status":{}}`)}, false},
		"keyed list, own manager":    {[]metav1.ManagedFieldsEntry{entry("me", `{"f:status":{"f:conditions":{".":{},"k:{\"type\":\"Ready\"}":{}}}}`)}, false},
		"stripped":                   {nil, false},
		"not written yet":            {[]metav1.ManagedFieldsEntry{entry("me", `{"f:spec":{}}`)}, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := wholeList(tc.fields, "me"); got != tc.want {
				t.Errorf("WholeList = %v, want %v", got, tc.want)
			}
		})
	}
}

// FuzzTypes checks that no managedFields cause a panic, and that a manager without an entry owns no type.
func FuzzTypes(f *testing.F) {
	f.Add(`{"f:status":{"f:conditions":{"k:{\"type\":\"Ready\"}":{}}}}`, "Ready")
	f.Add(`{"f:status":{"f:conditions":{"k:":{},"k:1":{},"k:{}":null}}}`, "")
	f.Add(`{"f:status":[]}`, "x")
	f.Fuzz(func(t *testing.T, fields, conditionType string) {
		entries := []metav1.ManagedFieldsEntry{entry("me", fields)}
		if ownedConditions(entries, "you")(conditionType) || wholeList(entries, "you") {
			t.Error("a manager without an entry owns something")
		}
		if ownedConditions(entries, "me")(conditionType) && wholeList(entries, "me") {
			t.Error("the list is owned as a whole and by type")
		}
	})
}
