package content

// Absent stands for a value that is not there.
type Absent struct{}

// EqualScalars reports whether two scalars are the same JSON value.
func EqualScalars(a, b any) bool {
	switch x := a.(type) {
	case string:
		y, ok := b.(string)
		return ok && x == y
	case bool:
		y, ok := b.(bool)
		return ok && x == y
	case nil:
		return IsAbsent(b)
	}
	x, ok := Number(a)
	if !ok {
		return false
	}
	y, ok := Number(b)
	return ok && x == y
}

// Number is exact up to 2^53, as JSON numbers are.
func Number(x any) (float64, bool) {
	switch n := x.(type) {
	case int64:
		return float64(n), true
	case float64:
		return n, true
	case int:
		return float64(n), true
	case int32:
		return float64(n), true
	}
	return 0, false
}

// IsAbsent reports that there is no value.
func IsAbsent(x any) bool {
	if x == nil {
		return true
	}
	_, ok := x.(Absent)
	return ok
}

// IsZero reports that the value is one that Go types leave out.
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
	n, ok := Number(x)
	return ok && n == 0
}
