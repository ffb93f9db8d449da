package templates

import (
	"slices"
	"strings"
)

// Preference ranks candidates by one property. The zero value ranks all equal.
type Preference[C any] struct {
	// Name names the property in the result, such as "precision".
	Name string
	// Rank returns the rank of a candidate; lower is better. Unset ranks all equal.
	Rank func(candidate *C) int
}

// InOrder prefers candidates in the order of these values. Values that are not listed come last and are equal.
func InOrder[C any](name string, value func(candidate *C) string, order ...string) Preference[C] {
	order = slices.Clone(order)
	return Preference[C]{Name: name, Rank: func(candidate *C) int {
		return place(slices.Index(order, value(candidate)), order)
	}}
}

// InOrderFold is [InOrder] without regard to case.
func InOrderFold[C any](name string, value func(candidate *C) string, order ...string) Preference[C] {
	order = slices.Clone(order)
	return Preference[C]{Name: name, Rank: func(candidate *C) int {
		v := value(candidate)
		return place(slices.IndexFunc(order, func(listed string) bool { return strings.EqualFold(listed, v) }), order)
	}}
}

// place ranks unlisted values after the listed ones.
func place(index int, order []string) int {
	if index < 0 {
		return len(order)
	}
	return index
}
