package pathtemplate

import (
	"cmp"
	"fmt"
	"reflect"
	"slices"
	"time"

	"k8s.io/client-go/util/jsonpath"
)

// list evaluates the nodes of an expression in order, with the results of kubectl's JSONPath. Each step is charged to the budget in
// advance.
func (e *evaluation) list(values []reflect.Value, nodes []jsonpath.Node) ([]reflect.Value, error) {
	for _, node := range nodes {
		if err := e.spend(1 + len(values)); err != nil {
			return nil, err
		}
		next, err := e.node(values, node)
		if err != nil {
			return nil, err
		}
		if err := e.hold(len(next)); err != nil {
			return nil, err
		}
		values = next
	}
	return values, nil
}

func (e *evaluation) node(values []reflect.Value, node jsonpath.Node) ([]reflect.Value, error) {
	switch node := node.(type) {
	case *jsonpath.ListNode:
		return e.list(values, node.Nodes)
	case *jsonpath.TextNode:
		return []reflect.Value{reflect.ValueOf(node.Text)}, nil
	case *jsonpath.IntNode:
		return slices.Repeat([]reflect.Value{reflect.ValueOf(node.Value)}, len(values)), nil
	case *jsonpath.FloatNode:
		return slices.Repeat([]reflect.Value{reflect.ValueOf(node.Value)}, len(values)), nil
	case *jsonpath.BoolNode:
		return slices.Repeat([]reflect.Value{reflect.ValueOf(node.Value)}, len(values)), nil
	case *jsonpath.FieldNode:
		return e.field(values, node.Value)
	case *jsonpath.ArrayNode:
		return e.slice(values, node.Params)
	case *jsonpath.WildcardNode:
		return e.wildcard(values)
	case *jsonpath.RecursiveNode:
		return e.recursive(values)
	case *jsonpath.UnionNode:
		return e.union(values, node)
	case *jsonpath.FilterNode:
		return e.filter(values, node)
	default:
		return nil, fmt.Errorf("unsupported %s in an expression", node.Type())
	}
}

// field returns the struct field or the map value with the name.
func (e *evaluation) field(values []reflect.Value, name string) ([]reflect.Value, error) {
	found := make([]reflect.Value, 0, len(values))
	for _, value := range values {
		var next reflect.Value
		switch value = indirect(value); value.Kind() {
		case reflect.Struct:
			if err := e.spend(value.NumField()); err != nil {
				return nil, err
			}
			next = fieldByJSON(value, name)
		case reflect.Map:
			if value.Type().Key().Kind() != reflect.String {
				return nil, fmt.Errorf("%s is not convertible to %s", name, value.Type().Key())
			}
			next = value.MapIndex(reflect.ValueOf(name).Convert(value.Type().Key()))
		default:
		}
		if next.IsValid() {
			found = append(found, next)
		}
	}
	if len(found) == 0 && len(values) > 0 {
		return nil, fmt.Errorf("%s is not found", name)
	}
	return found, nil
}

// wildcard returns all fields, entries and elements of the values.
func (e *evaluation) wildcard(values []reflect.Value) ([]reflect.Value, error) {
	var found []reflect.Value
	for _, value := range values {
		value = indirect(value)
		size := width(value)
		if err := e.spend(size); err != nil {
			return nil, err
		}
		if err := e.hold(len(found) + size); err != nil {
			return nil, err
		}
		found = appendContent(found, value)
	}
	return found, nil
}

// recursive returns the values and all values below them, without empty ones.
func (e *evaluation) recursive(values []reflect.Value) ([]reflect.Value, error) {
	var found []reflect.Value
	for _, value := range values {
		var err error
		if found, err = e.descend(found, value, 0); err != nil {
			return nil, err
		}
	}
	return found, nil
}

func (e *evaluation) descend(found []reflect.Value, value reflect.Value, level int) ([]reflect.Value, error) {
	value = indirect(value)
	size := width(value)
	if size == 0 {
		return found, nil
	}
	if err := e.deep(level); err != nil {
		return nil, err
	}
	if err := e.hold(len(found) + 1); err != nil {
		return nil, err
	}
	found = append(found, value)
	if !hasContainers(value.Type()) {
		return found, nil
	}
	if err := e.spend(size); err != nil {
		return nil, err
	}
	for _, content := range appendContent(nil, value) {
		var err error
		if found, err = e.descend(found, content, level+1); err != nil {
			return nil, err
		}
	}
	return found, nil
}

// hasContainers reports whether a value of the type can contain values that contain values. Strings and byte slices cannot, and the
// fields of a time are private.
func hasContainers(t reflect.Type) bool {
	switch t.Kind() {
	case reflect.Struct:
		return t != reflect.TypeFor[time.Time]()
	case reflect.Array, reflect.Slice, reflect.Map:
		switch t.Elem().Kind() {
		case reflect.Array, reflect.Slice, reflect.Map, reflect.Struct, reflect.String, reflect.Pointer, reflect.Interface:
			return true
		default:
			return false
		}
	default:
		return false
	}
}

// width returns the number of values that appendContent would append.
func width(value reflect.Value) int {
	switch value.Kind() {
	case reflect.Struct:
		return value.NumField()
	case reflect.Map, reflect.Array, reflect.Slice, reflect.String:
		return value.Len()
	default:
		return 0
	}
}

// appendContent appends the content of a value: fields, entries in the order of their keys, elements, bytes.
func appendContent(found []reflect.Value, value reflect.Value) []reflect.Value {
	switch value.Kind() {
	case reflect.Struct:
		for _, field := range value.Fields() {
			found = append(found, field)
		}
	case reflect.Map:
		keys := value.MapKeys()
		slices.SortFunc(keys, func(a, b reflect.Value) int { return cmp.Compare(a.String(), b.String()) })
		for _, key := range keys {
			found = append(found, value.MapIndex(key))
		}
	case reflect.Array, reflect.Slice, reflect.String:
		for i := range value.Len() {
			found = append(found, value.Index(i))
		}
	default:
	}
	return found
}

// union returns the values that each of several keys, indices or ranges selects.
func (e *evaluation) union(values []reflect.Value, node *jsonpath.UnionNode) ([]reflect.Value, error) {
	var found []reflect.Value
	for _, member := range node.Nodes {
		selected, err := e.list(values, member.Nodes)
		if err != nil {
			return nil, err
		}
		if err := e.hold(len(found) + len(selected)); err != nil {
			return nil, err
		}
		found = append(found, selected...)
	}
	return found, nil
}
