package content

import "encoding/json"

// Absent represents a missing value.
type Absent struct{}

// EqualScalars reports whether two scalars are the same JSON value. Numbers are compared exactly; 1 equals 1.0.
func EqualScalars(a, b any) bool {
	switch x := a.(type) {
	case string:
		y, ok := b.(string)
		return ok && x == y
	case bool:
		y, ok := b.(bool)
		return ok && x == y
	case nil:
		return b == nil
	}
	return equalNumbers(a, b)
}

func equalNumbers(a, b any) bool {
	x, xInteger := asInteger(a)
	y, yInteger := asInteger(b)
	if xInteger || yInteger {
		return xInteger && yInteger && x == y
	}
	f, isFloat := a.(float64)
	g, otherFloat := b.(float64)
	if isFloat && otherFloat {
		return f == g
	}
	n, isNumber := a.(json.Number)
	m, otherNumber := b.(json.Number)
	return isNumber && otherNumber && n == m
}

func asInteger(x any) (int64, bool) {
	switch n := x.(type) {
	case int64:
		return n, true
	case float64:
		return integer(n)
	case int:
		return int64(n), true
	case int32:
		return int64(n), true
	case json.Number:
		i, err := n.Int64()
		return i, err == nil
	}
	return 0, false
}

// IsAbsent reports whether there is no value.
func IsAbsent(x any) bool {
	if x == nil {
		return true
	}
	_, ok := x.(Absent)
	return ok
}

// IsZero reports whether Go types leave the value out.
func IsZero(x any) bool {
	switch x := x.(type) {
	case nil, Absent:
		return true
	case string:
		return x == ""
	case bool:
		return !x
	case map[string]any:
		return len(x) == 0
	case []any:
		return len(x) == 0
	}
	n, ok := asInteger(x)
	return ok && n == 0
}
