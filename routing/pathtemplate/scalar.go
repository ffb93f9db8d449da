package pathtemplate

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strconv"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// timeLayout formats a time in a path before cleaning; UTC, so that it does not depend on the machine.
const timeLayout = "2006-01-02 15:04:05.999999999 -0700 MST"

// scalar formats the value of an expression as it appears in the object's YAML.
func scalar(value reflect.Value, spent *evaluation) (string, error) {
	for value.IsValid() && (value.Kind() == reflect.Pointer || value.Kind() == reflect.Interface) {
		if value.IsNil() {
			return "", errors.New("jsonpath returned nil value")
		}
		value = value.Elem()
	}
	if !value.IsValid() || !value.CanInterface() {
		return "", errors.New("jsonpath returned invalid value")
	}
	switch v := value.Interface().(type) {
	case metav1.Time:
		return v.UTC().Format(timeLayout), nil
	case metav1.MicroTime:
		return v.UTC().Format(timeLayout), nil
	case time.Time:
		return v.UTC().Format(timeLayout), nil
	}
	if text, ok, err := marshalled(value, spent); ok {
		return text, err
	}
	switch value.Kind() {
	case reflect.String:
		return value.String(), nil
	case reflect.Bool:
		return strconv.FormatBool(value.Bool()), nil
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return strconv.FormatInt(value.Int(), 10), nil
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64, reflect.Uintptr:
		return strconv.FormatUint(value.Uint(), 10), nil
	case reflect.Float32, reflect.Float64:
		return strconv.FormatFloat(value.Float(), 'f', -1, value.Type().Bits()), nil
	default:
		return "", notScalar(value)
	}
}

func notScalar(value reflect.Value) error {
	return fmt.Errorf("jsonpath returned a value of kind %s, not a single string, number or boolean", value.Kind())
}

// marshalled formats types that implement json.Marshaler: a quantity, an int-or-string, a duration. It reports whether the type does.
func marshalled(value reflect.Value, spent *evaluation) (string, bool, error) {
	marshaler, ok := value.Interface().(json.Marshaler)
	if !ok {
		if !reflect.PointerTo(value.Type()).Implements(reflect.TypeFor[json.Marshaler]()) {
			return "", false, nil
		}
		// Quantities have the method on the pointer, and the value may not be addressable.
		pointer := reflect.New(value.Type())
		pointer.Elem().Set(value)
		if marshaler, ok = pointer.Interface().(json.Marshaler); !ok {
			return "", false, nil
		}
	}
	if err := spent.spend(marshalSteps); err != nil {
		return "", true, err
	}
	data, err := marshaler.MarshalJSON()
	if err != nil {
		return "", true, fmt.Errorf("jsonpath returned a value that JSON cannot hold: %w", err)
	}
	if len(data) > 0 && (data[0] == '{' || data[0] == '[') {
		if err := spent.spend(len(data) / bytesPerStep); err != nil {
			return "", true, err
		}
		return "", true, notScalar(value)
	}
	var decoded any
	if err := json.Unmarshal(data, &decoded); err != nil {
		return "", true, fmt.Errorf("jsonpath returned a value that JSON cannot hold: %w", err)
	}
	switch decoded := decoded.(type) {
	case nil:
		return "", true, errors.New("jsonpath returned nil value")
	case string:
		return decoded, true, nil
	case bool, float64:
		return string(data), true, nil
	}
	return "", true, notScalar(value)
}
