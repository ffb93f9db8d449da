package status

import (
	"encoding/json"
	"fmt"
	"reflect"

	"k8s.io/apimachinery/pkg/runtime"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// statusField returns the field of the Go type with the status, invalid if there is none.
func statusField(o client.Object) reflect.Value {
	v := reflect.ValueOf(o)
	if v.Kind() != reflect.Pointer || v.IsNil() || v.Elem().Kind() != reflect.Struct {
		return reflect.Value{}
	}
	return v.Elem().FieldByName("Status")
}

// contentOf returns the status of an object as JSON content. It omits nulls, and non-pointer structs without any set field, because the
// author has set neither.
func contentOf(o client.Object) (map[string]any, error) {
	object, err := objectContent(o)
	if err != nil {
		return nil, err
	}
	status, _ := object["status"].(map[string]any)
	if status == nil {
		status = map[string]any{}
	}
	return status, nil
}

// objectContent returns the content of an object as sent to the API server, without unset fields.
func objectContent(o client.Object) (map[string]any, error) {
	if u, ok := o.(runtime.Unstructured); ok {
		return runtime.DeepCopyJSON(u.UnstructuredContent()), nil
	}
	content, err := decoded(o)
	if err != nil {
		return nil, err
	}
	empty, err := decoded(reflect.New(reflect.TypeOf(o).Elem()).Interface())
	if err != nil {
		return nil, err
	}
	prune(content, empty)
	return content, nil
}

func decoded(o any) (map[string]any, error) {
	data, err := json.Marshal(o)
	if err != nil {
		return nil, fmt.Errorf("encode %T: %w", o, err)
	}
	var content map[string]any
	if err := utiljson.Unmarshal(data, &content); err != nil {
		return nil, fmt.Errorf("encode %T: want a JSON object: %w", o, err)
	}
	return content, nil
}

// prune removes nulls, and empty objects that the empty value of the Go type also has.
func prune(content, empty map[string]any) {
	for name, value := range content {
		switch v := value.(type) {
		case nil:
			delete(content, name)
		case map[string]any:
			below, always := empty[name].(map[string]any)
			prune(v, below)
			if always && len(v) == 0 {
				delete(content, name)
			}
		case []any:
			for _, item := range v {
				if m, ok := item.(map[string]any); ok {
					prune(m, nil)
				}
			}
		}
	}
}
