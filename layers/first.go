package layers

import (
	"maps"
	"slices"
)

// Source is the value of a setting in one layer. A nil value means unset; a pointer to a zero value sets zero.
type Source[T any] struct {
	// Layer names the layer for messages, such as "spec.routing" or "the cluster's configuration".
	Layer string
	// Value is the layer's value, nil if unset.
	Value *T
}

// Choice is the result of [First].
type Choice[T any] struct {
	// Value is the value of the deciding layer; the zero value if no layer sets one.
	Value T
	// Layer names the layer that decided; empty if none did.
	Layer string
	// Found reports whether a layer decided.
	Found bool
}

// First returns the value of the first source that sets one. An explicit false, zero or empty string wins over less specific layers. A
// value is never merged from several layers.
func First[T any](sources ...Source[T]) Choice[T] {
	for _, source := range sources {
		if source.Value != nil {
			return Choice[T]{Value: *source.Value, Layer: source.Layer, Found: true}
		}
	}
	return Choice[T]{}
}

// Or returns the chosen value, or the given default if no layer sets one.
func (c Choice[T]) Or(value T) T {
	if c.Found {
		return c.Value
	}
	return value
}

// Pointer returns the chosen value for an optional field: nil if no layer sets one, so that explicit zeros survive another merge.
func (c Choice[T]) Pointer() *T {
	if !c.Found {
		return nil
	}
	value := c.Value
	return &value
}

// Maps merges maps by key, the most specific first: its entries win. The result is a new map, nil if it is empty.
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
