package shape

import (
	"maps"
	"math/rand/v2"
	"slices"
)

// The JSON types of a [Shape]. AnyType is free-form JSON.
const (
	AnyType     = ""
	ObjectType  = "object"
	ArrayType   = "array"
	StringType  = "string"
	IntegerType = "integer"
	NumberType  = "number"
	BooleanType = "boolean"
)

// The formats that the generators support, in addition to those of integers.
const (
	QuantityFormat = "quantity"
	TimeFormat     = "date-time"
	BytesFormat    = "byte"
)

// The values of x-kubernetes-list-type and x-kubernetes-map-type.
const (
	AtomicList = "atomic"
	SetList    = "set"
	MapList    = "map"
	AtomicMap  = "atomic"
)

// Shape describes a JSON value. It is immutable.
type Shape struct {
	// Type is the JSON type.
	Type string
	// Format refines strings and integers.
	Format string
	// Properties are the fields of an object with named fields.
	Properties map[string]*Shape
	// Required are the names of the required fields.
	Required []string
	// Values is the shape of the values of a map.
	Values *Shape
	// Items is the shape of the items of a list.
	Items *Shape
	// ListType is how server-side apply merges a list; empty is atomic.
	ListType string
	// Keys are the fields that identify an item of a map list.
	Keys []string
	// MapType is how server-side apply merges an object; empty is granular.
	MapType string
	// Enum are the allowed values; empty allows all.
	Enum []any
	// Default is the server's default; nil is none.
	Default any
	// Nullable allows null.
	Nullable bool
	// IntOrString allows an integer or a string.
	IntOrString bool
	// Preserve keeps fields without a property.
	Preserve bool
	// Embedded is an entire object of the API.
	Embedded bool
}

// required reports whether the field is required.
func (s *Shape) required(name string) bool { return slices.Contains(s.Required, name) }

// names returns the sorted names of the properties, because the order of a map must not influence random values.
func (s *Shape) names() []string { return slices.Sorted(maps.Keys(s.Properties)) }

// scalar reports whether a value of the shape has no parts.
func (s *Shape) scalar() bool {
	switch s.Type {
	case StringType, IntegerType, NumberType, BooleanType:
		return true
	}
	return s.IntOrString
}

// pick returns one of the values.
func pick[T any](r *rand.Rand, values []T) T { return values[r.IntN(len(values))] }

// chance is true once in n.
func chance(r *rand.Rand, n int) bool { return r.IntN(n) == 0 }
