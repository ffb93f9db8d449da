package groups

import (
	"reflect"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// TestGroupStatusEqual changes every field of a status, including fields that are added later. Each change must enqueue the readers of the group.
func TestGroupStatusEqual(t *testing.T) {
	t.Parallel()
	now := time.Now()
	status := func(at time.Time) *GroupStatus {
		return &GroupStatus{
			Conditions: []metav1.Condition{{Type: "Ready", Status: metav1.ConditionTrue, LastTransitionTime: metav1.NewTime(at)}},
			Members:    []Member{{UID: "a", Generation: 1}},
		}
	}
	if !status(now).equal(status(now.UTC().Round(0))) {
		t.Error("the same status of another time zone is another one")
	}
	if empty := (&GroupStatus{Conditions: []metav1.Condition{}}); !empty.equal(&GroupStatus{}) {
		t.Error("an empty list of conditions is another one than none")
	}
	fields := 0
	each(reflect.ValueOf(status(now)).Elem(), func(path []int) {
		other := status(now)
		change(t, at(reflect.ValueOf(other).Elem(), path))
		if fields++; status(now).equal(other) {
			t.Errorf("a change of field %v does not count", path)
		}
	})
	if least := reflect.TypeFor[metav1.Condition]().NumField() + reflect.TypeFor[Member]().NumField(); fields < least {
		t.Errorf("only %d fields were changed", fields)
	}
}

// each visits the fields of a value, of the first element of lists.
func each(v reflect.Value, visit func(path []int)) {
	var walk func(v reflect.Value, path []int)
	walk = func(v reflect.Value, path []int) {
		switch {
		case v.Kind() == reflect.Slice:
			walk(v.Index(0), append(path[:len(path):len(path)], 0))
		case v.Kind() == reflect.Struct && v.Type() != reflect.TypeFor[metav1.Time]():
			for i := range v.NumField() {
				walk(v.Field(i), append(path[:len(path):len(path)], i))
			}
		default:
			visit(path)
		}
	}
	walk(v, nil)
}

func at(v reflect.Value, path []int) reflect.Value {
	for _, i := range path {
		if v.Kind() == reflect.Slice {
			v = v.Index(i)
		} else {
			v = v.Field(i)
		}
	}
	return v
}

func change(t *testing.T, v reflect.Value) {
	t.Helper()
	switch {
	case v.Type() == reflect.TypeFor[metav1.Time]():
		v.Set(reflect.ValueOf(metav1.NewTime(v.Interface().(metav1.Time).Add(time.Second))))
	case v.Kind() == reflect.String:
		v.SetString(v.String() + "x")
	case v.Kind() == reflect.Int64:
		v.SetInt(v.Int() + 1)
	default:
		t.Fatalf("no change for a field of type %s", v.Type())
	}
}
