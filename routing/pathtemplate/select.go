package pathtemplate

import (
	"errors"
	"fmt"
	"reflect"

	"k8s.io/client-go/third_party/forked/golang/template"
	"k8s.io/client-go/util/jsonpath"
)

// slice returns the elements of each list that an index or a range selects.
func (e *evaluation) slice(values []reflect.Value, params [3]jsonpath.ParamsEntry) ([]reflect.Value, error) {
	found := make([]reflect.Value, 0, len(values))
	for _, value := range values {
		value = indirect(value)
		switch value.Kind() {
		case reflect.Invalid:
			continue
		case reflect.Array, reflect.Slice:
		default:
			return nil, fmt.Errorf("%s is not array or slice", value.Type())
		}
		start, end, step, err := bounds(params, value.Len())
		if err != nil {
			return nil, err
		}
		if start == end {
			return found, nil // as kubectl does
		}
		size := (end-start-1)/step + 1
		if err := e.spend(size); err != nil {
			return nil, err
		}
		if err := e.hold(len(found) + size); err != nil {
			return nil, err
		}
		for i := range size {
			found = append(found, value.Index(start+i*step))
		}
	}
	return found, nil
}

// bounds returns start, end and step of a range, or of an index, in a list. A negative start or end counts from the end.
func bounds(params [3]jsonpath.ParamsEntry, length int) (start, end, step int, err error) {
	start, end, step = 0, length, 1
	if params[0].Known {
		start = params[0].Value
	}
	if start < 0 {
		start += length
	}
	if params[1].Known {
		end = params[1].Value
		if end < 0 || end == 0 && params[1].Derived {
			end += length
		}
	}
	if params[2].Known {
		step = params[2].Value
	}
	switch {
	case start == end:
	case start < 0 || start >= length:
		err = fmt.Errorf("array index out of bounds: index %d, length %d", start, length)
	case end < 0 || end > length:
		err = fmt.Errorf("array index out of bounds: index %d, length %d", end-1, length)
	case start > end:
		err = fmt.Errorf("starting index %d is greater than ending index %d", start, end)
	case step <= 0:
		err = errors.New("step must be > 0")
	}
	return start, end, step, err
}

// filter returns the elements of lists that satisfy a condition.
func (e *evaluation) filter(values []reflect.Value, node *jsonpath.FilterNode) ([]reflect.Value, error) {
	var found []reflect.Value
	for _, value := range values {
		value = indirect(value)
		if value.Kind() != reflect.Array && value.Kind() != reflect.Slice {
			return nil, fmt.Errorf("a value of kind %s is not array or slice and cannot be filtered", value.Kind())
		}
		for i := range value.Len() {
			element := value.Index(i)
			passes, err := e.passes(element, node)
			if err != nil {
				return nil, err
			}
			if !passes {
				continue
			}
			if err := e.hold(len(found) + 1); err != nil {
				return nil, err
			}
			found = append(found, element)
		}
	}
	return found, nil
}

// passes reports whether an element satisfies the condition of a filter. A comparison with a missing value is false.
func (e *evaluation) passes(element reflect.Value, node *jsonpath.FilterNode) (bool, error) {
	this := []reflect.Value{element}
	left, err := e.list(this, node.Left.Nodes)
	if node.Operator == "exists" {
		return len(left) > 0, e.limit // a missing field is not an error here
	}
	if err != nil || len(left) == 0 {
		return false, err
	}
	if len(left) > 1 {
		return false, errors.New("can only compare one element at a time")
	}
	right, err := e.list(this, node.Right.Nodes)
	if err != nil || len(right) == 0 {
		return false, err
	}
	if len(right) > 1 {
		return false, errors.New("can only compare one element at a time")
	}
	return e.compare(left[0], right[0], node.Operator)
}

// compare applies an operator to two strings, numbers or booleans.
func (e *evaluation) compare(left, right reflect.Value, operator string) (bool, error) {
	a, b := left.Interface(), right.Interface()
	if err := e.spend((width(reflect.ValueOf(a)) + width(reflect.ValueOf(b))) / bytesPerStep); err != nil {
		return false, err
	}
	switch operator {
	case "<":
		return template.Less(a, b)
	case ">":
		return template.Greater(a, b)
	case "==":
		return template.Equal(a, b)
	case "!=":
		return template.NotEqual(a, b)
	case "<=":
		return template.LessEqual(a, b)
	case ">=":
		return template.GreaterEqual(a, b)
	}
	return false, fmt.Errorf("unrecognized filter operator %s", operator)
}
