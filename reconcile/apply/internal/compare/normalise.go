package compare

import (
	"cmp"
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/content"
)

// EqualValues says whether live is what the server makes of intent. field is
// the name of the field that holds them. It treats as equal only what means
// the same: defaults of well-known fields, quantities, and empty values that
// the server leaves out.
func EqualValues(field string, intent, live any) bool {
	switch want := intent.(type) {
	case map[string]any:
		have, ok := live.(map[string]any)
		if !ok {
			return len(want) == 0 && content.IsAbsent(live)
		}
		return equalMaps(field, want, have)
	case []any:
		have, ok := live.([]any)
		if !ok {
			return len(want) == 0 && content.IsAbsent(live)
		}
		if len(want) != len(have) {
			return false
		}
		for i := range want {
			if !EqualValues(field, want[i], have[i]) {
				return false
			}
		}
		return true
	default:
		if content.IsAbsent(live) {
			return content.IsZero(intent)
		}
		return content.EqualScalars(intent, live) || equalQuantities(field, intent, live)
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
			h = content.Absent{}
		}
		below := name
		if container {
			below = field
		}
		if !EqualValues(below, w, h) && (!content.IsZero(w) || !isDefault(field, name, h)) {
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

func isEmpty(x any) bool {
	if content.IsAbsent(x) {
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
