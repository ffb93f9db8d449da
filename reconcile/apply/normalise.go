package apply

import (
	"cmp"
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/api/resource"
)

// equalValues says whether live is what the server makes of intent. field is
// the name of the field that holds them. It treats as equal only what means
// the same: defaults of well-known fields, quantities, and empty values that
// the server leaves out.
func equalValues(field string, intent, live any) bool {
	switch want := intent.(type) {
	case map[string]any:
		have, ok := live.(map[string]any)
		if !ok {
			return len(want) == 0 && isAbsent(live)
		}
		return equalMaps(field, want, have)
	case []any:
		have, ok := live.([]any)
		if !ok {
			return len(want) == 0 && isAbsent(live)
		}
		if len(want) != len(have) {
			return false
		}
		for i := range want {
			if !equalValues(field, want[i], have[i]) {
				return false
			}
		}
		return true
	default:
		if isAbsent(live) {
			return isZero(intent)
		}
		return equalScalars(intent, live) || equalQuantities(field, intent, live)
	}
}

// equalMaps compares maps that are owned as a whole. What only the live one
// has must be a default.
func equalMaps(field string, want, have map[string]any) bool {
	// Quantities are named by resource, so that the container decides.
	container := isQuantityMap(field)
	matched := 0
	for name, w := range want {
		h, exists := have[name]
		if exists {
			matched++
		} else {
			h = absent{}
		}
		below := name
		if container {
			below = field
		}
		if !equalValues(below, w, h) && (!isZero(w) || !isDefault(field, name, h)) {
			return false
		}
	}
	if matched == len(have) {
		return true
	}
	for name, h := range have {
		if _, planned := want[name]; !planned && !isDefault(field, name, h) {
			return false
		}
	}
	return true
}

func equalScalars(a, b any) bool {
	switch x := a.(type) {
	case string:
		y, ok := b.(string)
		return ok && x == y
	case bool:
		y, ok := b.(bool)
		return ok && x == y
	case nil:
		return isAbsent(b)
	}
	x, ok := number(a)
	if !ok {
		return false
	}
	y, ok := number(b)
	return ok && x == y
}

// number is exact up to 2^53, as JSON numbers are.
func number(x any) (float64, bool) {
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

// isQuantityMap names the fields that map names to quantities in the APIs of
// Kubernetes, isQuantity those that are quantities.
func isQuantityMap(field string) bool {
	switch field {
	case "requests", "limits", "capacity", "allocatable", "hard", "used", "max", "min", "default", "defaultRequest",
		"maxLimitRequestRatio", "overhead", "podFixed", "allocatedResources":
		return true
	}
	return false
}

func isQuantity(field string) bool {
	switch field {
	case "sizeLimit", "divisor", "averageValue", "value", "tolerance":
		return true
	}
	return false
}

// equalQuantities says whether live is the canonical form of intent.
func equalQuantities(field string, intent, live any) bool {
	if !isQuantityMap(field) && !isQuantity(field) {
		return false
	}
	canonical, ok := live.(string)
	if !ok {
		return false
	}
	var text string
	switch x := intent.(type) {
	case string:
		text = x
	case int64:
		text = resource.NewQuantity(x, resource.DecimalSI).String()
	case float64:
		text = formatFloat(x)
	default:
		return false
	}
	q, err := resource.ParseQuantity(text)
	return err == nil && q.String() == canonical
}

// isAbsent says that there is no value.
func isAbsent(x any) bool {
	if x == nil {
		return true
	}
	_, ok := x.(absent)
	return ok
}

// isZero says that the value is one that Go types leave out.
func isZero(x any) bool {
	switch x := x.(type) {
	case nil, absent:
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
	n, ok := number(x)
	return ok && n == 0
}

func isEmpty(x any) bool {
	if isAbsent(x) {
		return true
	}
	l, ok := x.([]any)
	return ok && len(l) == 0
}

// sortedKeys returns the keys; sorting is left out where nobody sees the order.
func sortedKeys[K cmp.Ordered, V any](m map[K]V, ordered bool) []K {
	keys := make([]K, 0, len(m))
	keys = slices.AppendSeq(keys, maps.Keys(m))
	if ordered {
		slices.Sort(keys)
	}
	return keys
}
