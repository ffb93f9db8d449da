package content

import (
	"encoding/binary"
	"encoding/json"
	"hash/maphash"
	"math"
	"math/bits"
	"reflect"
	"sync"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Hasher computes hashes of Go values. Values that encode to different JSON have different hashes, whatever their types: types with a JSON
// method are hashed by its result, others by their encoded fields. The order of maps does not matter. The seed is per process; hashes are
// never stored outside it.
type Hasher struct {
	seed    maphash.Seed
	encoder *Encoder
	pool    sync.Pool // of *maphash.Hash
}

// NewHasher returns a hasher with its own seed, which shares the type information of the encoder.
func NewHasher(e *Encoder) *Hasher {
	h := &Hasher{seed: maphash.MakeSeed(), encoder: e}
	h.pool.New = func() any {
		s := &maphash.Hash{}
		s.SetSeed(h.seed)
		return s
	}
	return h
}

// Sum returns the hash of the data that write adds.
func (h *Hasher) Sum(write func(s *maphash.Hash)) uint64 {
	s := h.Start()
	write(s)
	return h.Finish(s)
}

// Start returns an empty hash.
func (h *Hasher) Start() *maphash.Hash {
	return h.pool.Get().(*maphash.Hash) //nolint:forcetypeassert // only hashes are put
}

// Finish returns the sum and releases the hash.
func (h *Hasher) Finish(s *maphash.Hash) uint64 {
	sum := s.Sum64()
	s.Reset()
	h.pool.Put(s)
	return sum
}

// Text returns the hash of a string.
func (h *Hasher) Text(value string) uint64 { return maphash.String(h.seed, value) }

// Tags distinguish kinds of values, so that a list of one item differs from the item.
const (
	TagEnd byte = iota
	TagNil
	TagList
	TagMap
	TagSome
	TagTrue
	TagInt
	TagFloat
	TagString
	TagNumber
	TagError
)

// WriteUint adds a number.
func WriteUint(s *maphash.Hash, n uint64) {
	var b [8]byte
	binary.LittleEndian.PutUint64(b[:], n)
	_, _ = s.Write(b[:])
}

// WriteString adds a string with its length.
func WriteString(s *maphash.Hash, x string) {
	WriteUint(s, uint64(len(x)))
	_, _ = s.WriteString(x)
}

// Object adds a Go value of any type, with its type.
func (h *Hasher) Object(s *maphash.Hash, obj any) {
	v := reflect.ValueOf(obj)
	if !v.IsValid() {
		_ = s.WriteByte(TagNil)
		return
	}
	t := h.encoder.types.of(v.Type())
	WriteUint(s, t.id)
	h.value(s, t, v, 0)
}

// value adds a value whose type is part of the hash already.
func (h *Hasher) value(s *maphash.Hash, t *typeInfo, v reflect.Value, depth int) {
	if depth > maxDepth {
		_ = s.WriteByte(TagError) // it cannot be encoded either
		return
	}
	switch t.shape {
	case shapeSelf:
		h.self(s, t, v)
	case shapePointer:
		if v.IsNil() {
			_ = s.WriteByte(TagNil)
			return
		}
		_ = s.WriteByte(TagSome)
		h.value(s, t.elem, v.Elem(), depth+1)
	case shapeInterface:
		h.Content(s, v.Interface())
	case shapeStruct:
		h.structure(s, t, v, depth)
	case shapeMap:
		h.mapping(s, t, v, depth)
	case shapeList, shapeBytes:
		h.list(s, t, v, depth)
	case shapeString:
		WriteString(s, v.String())
	case shapeBool:
		writeBool(s, v.Bool())
	case shapeInt:
		WriteUint(s, uint64(v.Int())) //nolint:gosec // any bijection will do
	case shapeUint:
		WriteUint(s, v.Uint())
	case shapeFloat:
		WriteUint(s, math.Float64bits(v.Float()))
	case shapeNone:
		_ = s.WriteByte(TagError)
	}
}

func writeBool(s *maphash.Hash, b bool) {
	if b {
		_ = s.WriteByte(TagTrue)
	} else {
		_ = s.WriteByte(TagNil)
	}
}

// structure adds the fields that are not zero, each preceded by its number.
func (h *Hasher) structure(s *maphash.Hash, t *typeInfo, v reflect.Value, depth int) {
	for i := range t.fields {
		f := &t.fields[i]
		fv, ok := f.of(v)
		if !ok {
			continue
		}
		// Below a non-nil embedded pointer, zero differs from nil.
		if (fv.Kind() != reflect.Struct || f.info.shape == shapeSelf) && !f.viaPointer && fv.IsZero() {
			continue
		}
		writeNumber(s, i+1)
		h.value(s, f.info, fv, depth+1)
	}
	writeNumber(s, 0)
}

func writeNumber(s *maphash.Hash, n int) {
	var b [2]byte
	binary.LittleEndian.PutUint16(b[:], uint16(n)) //nolint:gosec // far fewer fields
	_, _ = s.Write(b[:])
}

// self adds the JSON encoding of a value.
func (h *Hasher) self(s *maphash.Hash, t *typeInfo, v reflect.Value) {
	switch t.known {
	case knownQuantity:
		writeQuantity(s, v.Interface().(resource.Quantity)) //nolint:forcetypeassert // known
		return
	case knownTime:
		WriteUint(s, uint64(v.Interface().(metav1.Time).Unix())) //nolint:forcetypeassert,gosec // known; any bijection will do
		return
	case knownMicroTime:
		x := v.Interface().(metav1.MicroTime) //nolint:forcetypeassert // known
		WriteUint(s, uint64(x.Unix()))        //nolint:gosec // any bijection will do
		WriteUint(s, uint64(x.Nanosecond()))  //nolint:gosec // never negative
		return
	case knownIntOrString:
		// Type, IntVal and StrVal, without the copy of an interface.
		WriteUint(s, uint64(v.Field(0).Int())) //nolint:gosec // any bijection will do
		WriteUint(s, uint64(v.Field(1).Int())) //nolint:gosec // any bijection will do
		WriteString(s, v.Field(2).String())
		return
	case knownNot:
	}
	if k := v.Kind(); (k == reflect.Map || k == reflect.Slice) && v.IsNil() {
		_ = s.WriteByte(TagNil)
		return
	}
	out, err := h.encoder.self(t, v)
	if err != nil {
		_ = s.WriteByte(TagError)
		WriteString(s, err.Error())
		return
	}
	h.Content(s, out)
}

func writeQuantity(s *maphash.Hash, q resource.Quantity) {
	WriteString(s, string(q.Format))
	if n, ok := q.AsInt64(); ok {
		_ = s.WriteByte(TagInt)
		WriteUint(s, uint64(n)) //nolint:gosec // any bijection will do
		return
	}
	_ = s.WriteByte(TagString)
	WriteString(s, q.String())
}

func (h *Hasher) list(s *maphash.Hash, t *typeInfo, v reflect.Value, depth int) {
	if v.Kind() == reflect.Slice && v.IsNil() {
		_ = s.WriteByte(TagNil)
		return
	}
	_ = s.WriteByte(TagList)
	WriteUint(s, uint64(v.Len())) //nolint:gosec // never negative
	if t.shape == shapeBytes {
		_, _ = s.Write(v.Bytes())
		return
	}
	for i := range v.Len() {
		h.value(s, t.elem, v.Index(i), depth+1)
	}
}

// mapping adds the sum of the entries' hashes, so that their order is irrelevant. The common map types need no reflection.
func (h *Hasher) mapping(s *maphash.Hash, t *typeInfo, v reflect.Value, depth int) {
	if v.IsNil() {
		_ = s.WriteByte(TagNil)
		return
	}
	_ = s.WriteByte(TagMap)
	var total uint64
	switch m := v.Interface().(type) {
	case map[string]string:
		for k, x := range m {
			total += h.entry(k, maphash.String(h.seed, x))
		}
	case map[string][]byte:
		for k, x := range m {
			total += h.entry(k, h.Sum(func(s *maphash.Hash) { writeBool(s, x != nil); _, _ = s.Write(x) }))
		}
	case corev1.ResourceList:
		for k, x := range m {
			total += h.entry(string(k), h.Sum(func(s *maphash.Hash) { writeQuantity(s, x) }))
		}
	default:
		for it := v.MapRange(); it.Next(); {
			key, err := keyName(it.Key())
			if err != nil {
				_ = s.WriteByte(TagError)
			}
			total += h.entry(key, h.Sum(func(s *maphash.Hash) { h.value(s, t.elem, it.Value(), depth+1) }))
		}
	}
	WriteUint(s, uint64(v.Len())) //nolint:gosec // never negative
	WriteUint(s, total)
}

func (h *Hasher) entry(key string, value uint64) uint64 {
	const odd = 0x9e3779b97f4a7c15 // 2^64 / golden ratio
	x := maphash.String(h.seed, key) ^ bits.RotateLeft64(value*odd, 29)
	x ^= x >> 32
	x *= odd
	return x ^ x>>29
}

// Content adds unstructured content. Values of other Go types in it count as their encoding.
func (h *Hasher) Content(s *maphash.Hash, x any) {
	switch x := x.(type) {
	case nil:
		_ = s.WriteByte(TagNil)
	case string:
		_ = s.WriteByte(TagString)
		WriteString(s, x)
	case bool:
		_ = s.WriteByte(TagSome)
		writeBool(s, x)
	case int64:
		_ = s.WriteByte(TagInt)
		WriteUint(s, uint64(x)) //nolint:gosec // any bijection will do
	case float64:
		if n, ok := integer(x); ok {
			_ = s.WriteByte(TagInt)
			WriteUint(s, uint64(n)) //nolint:gosec // any bijection will do
			return
		}
		_ = s.WriteByte(TagFloat)
		WriteUint(s, math.Float64bits(x))
	case json.Number:
		_ = s.WriteByte(TagNumber)
		WriteString(s, string(x))
	case []any:
		_ = s.WriteByte(TagList)
		WriteUint(s, uint64(len(x)))
		for i := range x {
			h.Content(s, x[i])
		}
	case map[string]any:
		_ = s.WriteByte(TagMap)
		var total uint64
		for k, v := range x {
			sub := h.Start()
			h.Content(sub, v)
			total += h.entry(k, h.Finish(sub))
		}
		WriteUint(s, uint64(len(x)))
		WriteUint(s, total)
	default:
		h.encoded(s, x)
	}
}

func (h *Hasher) encoded(s *maphash.Hash, x any) {
	out, err := h.encoder.dynamic(reflect.ValueOf(x), 0)
	if err != nil {
		_ = s.WriteByte(TagError)
		WriteString(s, err.Error())
		return
	}
	h.Content(s, out)
}
