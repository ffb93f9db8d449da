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

// Hasher computes hashes of Go values without encoding them. Equal intents
// have equal hashes; the order of maps does not matter. The seed lives as long
// as the process, hashes are never stored outside it.
type Hasher struct {
	seed  maphash.Seed
	plans *structPlans
	pool  sync.Pool // of *maphash.Hash
}

// NewHasher returns a hasher with a seed of its own, which shares what the
// encoder knows about Go types.
func NewHasher(e *Encoder) *Hasher {
	h := &Hasher{seed: maphash.MakeSeed(), plans: e.plans}
	h.pool.New = func() any {
		s := &maphash.Hash{}
		s.SetSeed(h.seed)
		return s
	}
	return h
}

// Sum is the hash of what write adds.
func (h *Hasher) Sum(write func(s *maphash.Hash)) uint64 {
	s := h.Start()
	write(s)
	return h.Finish(s)
}

// Start returns an empty hash to write to.
func (h *Hasher) Start() *maphash.Hash {
	return h.pool.Get().(*maphash.Hash) //nolint:forcetypeassert // only hashes are put
}

// Finish returns the sum and takes the hash back.
func (h *Hasher) Finish(s *maphash.Hash) uint64 {
	sum := s.Sum64()
	s.Reset()
	h.pool.Put(s)
	return sum
}

// Tags separate kinds of values, so that a list of one is not its element.
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
)

// WriteUint adds a number.
func WriteUint(s *maphash.Hash, n uint64) {
	var b [8]byte
	binary.LittleEndian.PutUint64(b[:], n)
	_, _ = s.Write(b[:])
}

// WriteString adds a text, with its length.
func WriteString(s *maphash.Hash, x string) {
	WriteUint(s, uint64(len(x)))
	_, _ = s.WriteString(x)
}

// Value adds a Go value.
func (h *Hasher) Value(s *maphash.Hash, v reflect.Value) {
	switch v.Kind() {
	case reflect.Pointer, reflect.Interface:
		if v.IsNil() {
			_ = s.WriteByte(TagNil)
			return
		}
		_ = s.WriteByte(TagSome)
		if v.Kind() == reflect.Interface {
			h.Content(s, v.Interface())
			return
		}
		h.Value(s, v.Elem())
	case reflect.Struct:
		h.structure(s, v)
	case reflect.Map:
		h.mapping(s, v)
	case reflect.Slice, reflect.Array:
		h.list(s, v)
	case reflect.String:
		WriteString(s, v.String())
	case reflect.Bool:
		if v.Bool() {
			_ = s.WriteByte(TagTrue)
		} else {
			_ = s.WriteByte(TagNil)
		}
	default:
		switch {
		case v.CanInt():
			WriteUint(s, uint64(v.Int())) //nolint:gosec // any bijection will do
		case v.CanUint():
			WriteUint(s, v.Uint())
		case v.CanFloat():
			WriteUint(s, math.Float64bits(v.Float()))
		}
	}
}

// structure adds the fields that are not zero, each after its number.
func (h *Hasher) structure(s *maphash.Hash, v reflect.Value) {
	switch v.Type() {
	case typeQuantity:
		writeQuantity(s, v.Interface().(resource.Quantity)) //nolint:forcetypeassert // just compared
		return
	case typeTime:
		t := v.Interface().(metav1.Time) //nolint:forcetypeassert // just compared
		WriteUint(s, uint64(t.UnixNano()))
		return
	case typeMicroTime:
		t := v.Interface().(metav1.MicroTime) //nolint:forcetypeassert // just compared
		WriteUint(s, uint64(t.UnixNano()))
		return
	}
	plan := h.plans.of(v.Type())
	if plan.opaque {
		data, _ := json.Marshal(v.Interface()) //nolint:errchkjson // the error shows when it is encoded to be sent
		_, _ = s.Write(data)
		return
	}
	fields := plan.fields
	for i := range fields {
		f := v.Field(fields[i].index)
		switch f.Kind() {
		case reflect.Struct:
		default:
			if f.IsZero() {
				continue
			}
		}
		_ = s.WriteByte(byte(i + int(TagString)))
		h.Value(s, f)
	}
	_ = s.WriteByte(TagEnd)
}

var (
	typeQuantity  = reflect.TypeFor[resource.Quantity]() //nolint:gochecknoglobals // a constant
	typeTime      = reflect.TypeFor[metav1.Time]()       //nolint:gochecknoglobals // a constant
	typeMicroTime = reflect.TypeFor[metav1.MicroTime]()  //nolint:gochecknoglobals // a constant
)

func writeQuantity(s *maphash.Hash, q resource.Quantity) {
	WriteString(s, string(q.Format))
	if n, ok := q.AsInt64(); ok {
		WriteUint(s, uint64(n)) //nolint:gosec // any bijection will do
		return
	}
	WriteString(s, q.String())
}

func (h *Hasher) list(s *maphash.Hash, v reflect.Value) {
	if v.Kind() == reflect.Slice && v.IsNil() {
		_ = s.WriteByte(TagNil)
		return
	}
	_ = s.WriteByte(TagList)
	WriteUint(s, uint64(v.Len())) //nolint:gosec // never negative
	if v.Kind() == reflect.Slice && v.Type().Elem().Kind() == reflect.Uint8 {
		_, _ = s.Write(v.Bytes())
		return
	}
	for i := range v.Len() {
		h.Value(s, v.Index(i))
	}
}

// mapping adds the sum of the entries' hashes, so that their order is
// irrelevant. The common map types are spared reflection.
func (h *Hasher) mapping(s *maphash.Hash, v reflect.Value) {
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
			total += h.entry(k, maphash.Bytes(h.seed, x))
		}
	case map[string]any:
		for k, x := range m {
			total += h.entry(k, h.Sum(func(s *maphash.Hash) { h.Content(s, x) }))
		}
	case corev1.ResourceList:
		for k, x := range m {
			total += h.entry(string(k), h.Sum(func(s *maphash.Hash) { writeQuantity(s, x) }))
		}
	default:
		for it := v.MapRange(); it.Next(); {
			total += h.entry(it.Key().String(), h.Sum(func(s *maphash.Hash) { h.Value(s, it.Value()) }))
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

// Content adds unstructured content.
func (h *Hasher) Content(s *maphash.Hash, x any) {
	switch x := x.(type) {
	case nil:
		_ = s.WriteByte(TagNil)
	case string:
		_ = s.WriteByte(TagString)
		WriteString(s, x)
	case bool:
		_ = s.WriteByte(TagSome)
		if x {
			_ = s.WriteByte(TagTrue)
		}
	case int64:
		_ = s.WriteByte(TagInt)
		WriteUint(s, uint64(x)) //nolint:gosec // any bijection will do
	case float64:
		if n := int64(x); float64(n) == x {
			_ = s.WriteByte(TagInt)
			WriteUint(s, uint64(n)) //nolint:gosec // any bijection will do
			return
		}
		_ = s.WriteByte(TagFloat)
		WriteUint(s, math.Float64bits(x))
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
		h.Value(s, reflect.ValueOf(x))
	}
}

// Text is the hash of a text.
func (h *Hasher) Text(value string) uint64 { return maphash.String(h.seed, value) }
