package content

import (
	"encoding"
	"encoding/json"
	"reflect"
	"sync"

	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// shape is how the values of a Go type are encoded. Encoder and Hasher both use it, so that their results are consistent.
type shape int

const (
	shapeNone shape = iota // has no JSON form
	shapeString
	shapeBool
	shapeInt
	shapeUint
	shapeFloat
	shapeBytes // base64
	shapeList
	shapeMap
	shapeStruct
	shapePointer
	shapeInterface
	shapeSelf // encodes itself
)

// known are types with a JSON method whose hash can be computed without encoding.
type known int

const (
	knownNot known = iota
	knownQuantity
	knownTime
	knownMicroTime
	knownIntOrString
)

// typeInfo is the encoding of a Go type, computed once.
type typeInfo struct {
	goType reflect.Type
	// id distinguishes types in hashes.
	id    uint64
	shape shape
	known known
	// byPointer reports that the JSON methods have a pointer receiver.
	byPointer bool
	// key and elem are the key and element types of maps; lists and pointers only have elem.
	key, elem *typeInfo
	fields    []field
}

// typeInfos computes and caches typeInfo values. Their number is bounded by the Go types in the program.
type typeInfos struct {
	mu    sync.RWMutex
	infos map[reflect.Type]*typeInfo
}

func newTypeInfos() *typeInfos { return &typeInfos{infos: map[reflect.Type]*typeInfo{}} }

func (p *typeInfos) of(t reflect.Type) *typeInfo {
	p.mu.RLock()
	info := p.infos[t]
	p.mu.RUnlock()
	if info != nil {
		return info
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.compile(t)
}

// compile must be called with the lock held. A recursive type finds its own entry, which is complete before other goroutines can read it.
func (p *typeInfos) compile(t reflect.Type) *typeInfo {
	if info := p.infos[t]; info != nil {
		return info
	}
	info := &typeInfo{goType: t, id: uint64(len(p.infos)) + 1}
	p.infos[t] = info
	if encodes, byPointer := selfEncoding(t); encodes {
		info.shape, info.byPointer, info.known = shapeSelf, byPointer, knownTypes[t]
		return info
	}
	info.shape = shapeOf(t)
	switch info.shape {
	case shapePointer, shapeList:
		info.elem = p.compile(t.Elem())
		if t.Kind() == reflect.Slice && t.Elem().Kind() == reflect.Uint8 && info.elem.shape != shapeSelf {
			info.shape = shapeBytes
		}
	case shapeMap:
		info.key, info.elem = p.compile(t.Key()), p.compile(t.Elem())
	case shapeStruct:
		info.fields = p.structFields(t)
	default:
	}
	return info
}

var (
	typeToUnstructured = reflect.TypeFor[toUnstructured]()         //nolint:gochecknoglobals // a constant
	typeMarshaler      = reflect.TypeFor[json.Marshaler]()         //nolint:gochecknoglobals // a constant
	typeTextMarshaler  = reflect.TypeFor[encoding.TextMarshaler]() //nolint:gochecknoglobals // a constant

	knownTypes = map[reflect.Type]known{ //nolint:gochecknoglobals // a constant
		reflect.TypeFor[resource.Quantity]():  knownQuantity,
		reflect.TypeFor[metav1.Time]():        knownTime,
		reflect.TypeFor[metav1.MicroTime]():   knownMicroTime,
		reflect.TypeFor[intstr.IntOrString](): knownIntOrString,
	}
)

// selfEncoding reports whether the type has a JSON method, and whether the method needs a pointer. Pointers and interfaces do not count;
// the value inside decides.
func selfEncoding(t reflect.Type) (encodes, byPointer bool) {
	if k := t.Kind(); k == reflect.Pointer || k == reflect.Interface {
		return false, false
	}
	if marshals(t) {
		return true, false
	}
	return marshals(reflect.PointerTo(t)), true
}

func marshals(t reflect.Type) bool {
	return t.Implements(typeToUnstructured) || t.Implements(typeMarshaler) || t.Implements(typeTextMarshaler)
}

func shapeOf(t reflect.Type) shape {
	switch t.Kind() {
	case reflect.String:
		return shapeString
	case reflect.Bool:
		return shapeBool
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return shapeInt
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64, reflect.Uintptr:
		return shapeUint
	case reflect.Float32, reflect.Float64:
		return shapeFloat
	case reflect.Slice, reflect.Array:
		return shapeList
	case reflect.Map:
		return shapeMap
	case reflect.Struct:
		return shapeStruct
	case reflect.Pointer:
		return shapePointer
	case reflect.Interface:
		return shapeInterface
	default:
		return shapeNone
	}
}

func indirect(t reflect.Type) reflect.Type {
	if t.Kind() == reflect.Pointer {
		return t.Elem()
	}
	return t
}

// toUnstructured is implemented by Time and Quantity.
type toUnstructured interface{ ToUnstructured() any }
