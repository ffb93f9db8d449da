package fieldset

import (
	"encoding/json"
	"reflect"
	"strings"
	"sync"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes/scheme"
)

// source is the source of a schema.
type source int

const (
	// Without a source only equal JSON is equal.
	_ source = iota
	// sourceForeign is the Go type of a custom resource. The API server does not use it, so equality in it proves nothing. Decoding into
	// it may have lost fields, so values that are owned as a whole cannot be compared.
	sourceForeign
	// sourceGateway is a Go type of Gateway API. Its defaults are known, and it has all fields.
	sourceGateway
	// sourceServer is a Go type into which the API server itself decodes the kind. Values that are equal in this type are equal for the
	// server.
	sourceServer
)

// Schema is the known schema of the values at one place of a kind. The zero Schema is unknown.
type Schema struct {
	source source
	goType reflect.Type
	// merged reports that the values are a list whose items are owned separately.
	merged bool
	// whole reports that the values are a map that is owned as a whole.
	whole bool
}

// SchemaOf returns the schema of a kind. goType is the struct into which objects are read, nil for unstructured ones.
func SchemaOf(gvk schema.GroupVersionKind, goType reflect.Type, known *runtime.Scheme) Schema {
	if t := scheme.Scheme.AllKnownTypes()[gvk]; t != nil && served(t) && (goType == nil || goType == t) {
		return Schema{source: sourceServer, goType: t}
	}
	if goType == nil && known != nil && known.Recognizes(gvk) {
		if t := known.AllKnownTypes()[gvk]; t.PkgPath() == gatewayPackage || apiextensions(gvk, t) {
			goType = t
		}
	}
	switch {
	case goType == nil:
		return Schema{}
	case apiextensions(gvk, goType):
		return Schema{source: sourceServer, goType: goType}
	case goType.PkgPath() == gatewayPackage && gvk.Group == gatewayGroup:
		return Schema{source: sourceGateway, goType: goType}
	}
	return Schema{source: sourceForeign, goType: goType}
}

const (
	gatewayPackage = "sigs.k8s.io/gateway-api/apis/v1"
	gatewayGroup   = "gateway.networking.k8s.io"
)

func served(t reflect.Type) bool { return strings.HasPrefix(t.PkgPath(), "k8s.io/api/") }

// apiextensions reports whether the kind belongs to apiextensions, which the API server serves like the built-in kinds.
func apiextensions(gvk schema.GroupVersionKind, t reflect.Type) bool {
	return gvk.Group == "apiextensions.k8s.io" && strings.HasPrefix(t.PkgPath(), "k8s.io/apiextensions-apiserver/pkg/apis/")
}

// Below returns the schema of the values at a path.
func (s Schema) Below(path Path) Schema {
	for name := range path.Steps() {
		if name == "" {
			s = s.elem()
		} else {
			s = s.field(name)
		}
	}
	return s
}

// field returns the schema of a field, or of a map's entry.
func (s Schema) field(name string) Schema {
	t := s.plain()
	if t == nil {
		return Schema{}
	}
	if t.Kind() == reflect.Map {
		return Schema{source: s.source, goType: t.Elem()}
	}
	if f, ok := fieldsOf(t)[name]; ok {
		server := s.source == sourceServer
		return Schema{source: s.source, goType: f.goType, merged: f.merged && server, whole: server && wholeMap(f.in, name)}
	}
	return Schema{}
}

// elem returns the schema of the items of a list.
func (s Schema) elem() Schema {
	if t := s.plain(); t != nil && (t.Kind() == reflect.Slice || t.Kind() == reflect.Array) {
		return Schema{source: s.source, goType: t.Elem()}
	}
	return Schema{}
}

// plain returns the type without pointers, nil if it has a JSON method.
func (s Schema) plain() reflect.Type {
	t := s.goType
	for t != nil && t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if t == nil || encodesItself(t) {
		return nil
	}
	return t
}

// loses reports whether reading an object into the type may have lost a part of the value: an unknown field, or a zero.
func (s Schema) loses() bool { return s.source == sourceForeign && holdsStruct(s.goType, 0) }

func holdsStruct(t reflect.Type, depth int) bool {
	if t == nil || depth > 100 {
		return false
	}
	if encodesItself(t) {
		return !keepsAll(pointee(t))
	}
	switch t.Kind() {
	case reflect.Struct:
		return true
	case reflect.Pointer, reflect.Slice, reflect.Array, reflect.Map:
		return holdsStruct(t.Elem(), depth+1)
	default:
		return false
	}
}

// keepsAll reports whether a type with a JSON method is known to keep all fields. Other types may omit fields that they do not know.
func keepsAll(t reflect.Type) bool {
	switch t.PkgPath() {
	case "k8s.io/apimachinery/pkg/api/resource", "k8s.io/apimachinery/pkg/util/intstr", "k8s.io/apimachinery/pkg/apis/meta/v1",
		"k8s.io/apimachinery/pkg/runtime", "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1", "encoding/json":
		return true
	}
	return false
}

var typeMarshaler = reflect.TypeFor[json.Marshaler]() //nolint:gochecknoglobals // a constant

func encodesItself(t reflect.Type) bool {
	return t.Kind() != reflect.Interface && (t.Implements(typeMarshaler) || reflect.PointerTo(t).Implements(typeMarshaler))
}

// structField is one JSON field of a struct.
type structField struct {
	goType reflect.Type
	// in is the struct that declares the field, possibly an embedded one.
	in reflect.Type
	// merged reports that the patch strategy of the field is to merge a list. In the types of the API server, the items of such lists are
	// owned separately.
	merged bool
}

var structs sync.Map //nolint:gochecknoglobals // reflect.Type to map[string]structField, a cache bounded by the program's types

func fieldsOf(t reflect.Type) map[string]structField {
	if t.Kind() != reflect.Struct {
		return nil
	}
	if known, ok := structs.Load(t); ok {
		return known.(map[string]structField) //nolint:forcetypeassert // only this function stores
	}
	out := map[string]structField{}
	addFields(t, out, map[reflect.Type]bool{})
	structs.Store(t, out)
	return out
}

// pointee returns the type that a pointer points to.
func pointee(t reflect.Type) reflect.Type {
	if t.Kind() == reflect.Pointer {
		return t.Elem()
	}
	return t
}

// addFields adds the fields of embedded structs first, so that outer fields hide them.
func addFields(t reflect.Type, out map[string]structField, within map[reflect.Type]bool) {
	if within[t] {
		return // it embeds itself
	}
	within[t] = true
	defer delete(within, t)
	for _, inline := range []bool{true, false} {
		for f := range t.Fields() {
			name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
			if below := pointee(f.Type); f.Anonymous && name == "" && below.Kind() == reflect.Struct {
				if inline {
					addFields(below, out, within)
				}
				continue
			}
			if !inline && name != "-" && f.IsExported() {
				if name == "" {
					name = f.Name
				}
				merged := f.Type.Kind() == reflect.Slice && strings.Contains(f.Tag.Get("patchStrategy"), "merge")
				out[name] = structField{goType: f.Type, in: t, merged: merged}
			}
		}
	}
}

// wholeMap reports whether a map in a struct field is owned as a whole.
func wholeMap(in reflect.Type, name string) bool {
	switch in.PkgPath() + "." + in.Name() {
	case "k8s.io/api/core/v1.PodSpec", "k8s.io/api/node/v1.Scheduling":
		return name == "nodeSelector"
	case "k8s.io/api/core/v1.ServiceSpec", "k8s.io/api/core/v1.ReplicationControllerSpec":
		return name == "selector"
	}
	return false
}
