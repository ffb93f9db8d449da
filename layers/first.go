package layers

import (
	"maps"
	"slices"
)

// Source is what one layer says about a setting. A nil value says nothing; a pointer to a zero value says zero.
type Source[T any] struct {
	// Layer names the layer for messages, such as "spec.routing" or "the cluster's configuration".
	Layer string
	// Value is what the layer says, nil when it is silent.
	Value *T
}

// Choice is the outcome of [First].
type Choice[T any] struct {
	// Value is what the deciding layer says; the zero value when none says anything.
	Value T
	// Layer names the layer that decided, empty when none did.
	Layer string
	// Found reports whether a layer decided.
	Found bool
}

// First asks the layers in order, the most specific first, and takes the first that says anything: an explicit false, zero or
// empty string wins over whatever stands below it. A value is taken whole and never mixed from several layers.
func First[T any](sources ...Source[T]) Choice[T] {
	for _, source := range sources {
		if source.Value != nil {
			return Choice[T]{Value: *source.Value, Layer: source.Layer, Found: true}
		}
	}
	return Choice[T]{}
}

// Or returns the chosen value, or the given default when no layer says anything.
func (c Choice[T]) Or(value T) T {
	if c.Found {
		return c.Value
	}
	return value
}

// Pointer returns the chosen value as an optional field holds it: nil when no layer says anything, so that layers can be
// merged into one that keeps explicit zeroes.
func (c Choice[T]) Pointer() *T {
	if !c.Found {
		return nil
	}
	value := c.Value
	return &value
}

// Maps merges maps by key, the most specific first: its entries win. The result is new, and nil when nothing is in it.
func Maps[K comparable, V any](list ...map[K]V) map[K]V {
	var merged map[K]V
	for _, v := range slices.Backward(list) {
		if len(v) == 0 {
			continue
		}
		if merged == nil {
			merged = make(map[K]V, len(v))
		}
		maps.Copy(merged, v)
	}
	return merged
}
