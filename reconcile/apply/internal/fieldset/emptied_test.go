package fieldset_test

import (
	"encoding/json"
	"reflect"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/fieldset"
)

func TestEmptied(t *testing.T) {
	t.Parallel()
	entry := func(manager, version, fields string) metav1.ManagedFieldsEntry {
		return metav1.ManagedFieldsEntry{
			Manager: manager, APIVersion: version, Operation: metav1.ManagedFieldsOperationApply, FieldsV1: metav1.NewFieldsV1(fields),
		}
	}
	const ours = `{"f:spec":{"f:m":{"f:a":{}},"f:l":{"k:{\"id\":1}":{".":{},"f:id":{},"f:m":{"f:a":{}}}}}}`
	const live = `{"spec":{"m":{"a":"1"},"l":[{"id":0},{"id":1,"m":{"a":"1"}}]}}`
	for name, c := range map[string]struct {
		version, theirs, live string
		planned               map[string]any
		want                  []fieldset.Empty
	}{
		"a map":                  {"v1", `{"f:spec":{"f:m":{}}}`, live, nil, []fieldset.Empty{{Pointer: "/spec/m", Value: map[string]any{}}}},
		"a map in an item":       {"v1", `{"f:spec":{"f:l":{"k:{\"id\":1}":{"f:m":{}}}}}`, live, nil, []fieldset.Empty{{Pointer: "/spec/l/1/m", Value: map[string]any{}}}},
		"something else in it":   {"v1", `{"f:spec":{"f:m":{}}}`, `{"spec":{"m":{"a":"1","b":"1"}}}`, nil, nil},
		"still planned":          {"v1", `{"f:spec":{"f:m":{}}}`, live, map[string]any{"spec": map[string]any{"m": map[string]any{"b": "1"}}}, nil},
		"planned beside it":      {"v1", `{"f:spec":{"f:m":{}}}`, live, map[string]any{"spec": map[string]any{"n": "1"}}, []fieldset.Empty{{Pointer: "/spec/m", Value: map[string]any{}}}},
		"theirs, with a field":   {"v1", `{"f:spec":{"f:m":{".":{},"f:a":{}}}}`, live, nil, nil},
		"nobody else's":          {"v1", `{"f:spec":{"f:other":{}}}`, live, nil, nil},
		"names of other version": {"v2", `{"f:spec":{"f:m":{}}}`, live, nil, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			entries := []metav1.ManagedFieldsEntry{entry("ours", "v1", ours), entry("theirs", c.version, c.theirs)}
			var object map[string]any
			if err := json.Unmarshal([]byte(c.live), &object); err != nil {
				t.Fatal(err)
			}
			if got := fieldset.Emptied(entries, "ours", object, c.planned); !reflect.DeepEqual(got, c.want) {
				t.Errorf("got %v, want %v", got, c.want)
			}
			if len(c.want) > 0 && !fieldset.Claims(entries, "ours") {
				t.Error("nothing is claimed")
			}
		})
	}
}
