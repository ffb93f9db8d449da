package apply

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

// hasher computes hashes of Go values without encoding them. Equal intents
// have equal hashes; the order of maps does not matter. The seed lives as long
// as the process, hashes are never stored outside it.
type hasher struct {
	seed  maphash.Seed
	plans *structPlans
	pool  sync.Pool // of *maphash.Hash
}

func newHasher(plans *structPlans) *hasher {
	h := &hasher{seed: maphash.MakeSeed(), plans: plans}
	h.pool.New = func() any {
		s := &maphash.Hash{}
		s.SetSeed(h.seed)
		return s
	}
	return h
}

// sum is the hash of what write adds.
func (h *hasher) sum(write func(s *maphash.Hash)) uint64 {
	s := h.start()
	write(s)
	return h.finish(s)
}

func (h *hasher) start() *maphash.Hash {
	return h.pool.Get().(*maphash.Hash) //nolint:forcetypeassert // only hashes are put
}

func (h *hasher) finish(s *maphash.Hash) uint64 {
	sum := s.Sum64()
	s.Reset()
	h.pool.Put(s)
	return sum
}

// tags separate kinds of values, so that a list of one is not its element.
const (
	tagEnd byte = iota
	tagNil
	tagList
	tagMap
	tagSome
	tagTrue
	tagInt
	tagFloat
	tagString
)

func writeUint(s *maphash.Hash, n uint64) {
	var b [8]byte
	binary.LittleEndian.PutUint64(b[:], n)
	_, _ = s.Write(b[:])
}

func writeString(s *maphash.Hash, x string) {
	writeUint(s, uint64(len(x)))
	_, _ = s.WriteString(x)
}

// value adds a Go value.
func (h *hasher) value(s *maphash.Hash, v reflect.Value) {
	switch v.Kind() {
	case reflect.Pointer, reflect.Interface:
		if v.IsNil() {
			_ = s.WriteByte(tagNil)
			return
		}
		_ = s.WriteByte(tagSome)
		if v.Kind() == reflect.Interface {
			h.content(s, v.Interface())
			return
		}
		h.value(s, v.Elem())
	case reflect.Struct:
		h.structure(s, v)
	case reflect.Map:
		h.mapping(s, v)
	case reflect.Slice, reflect.Array:
		h.list(s, v)
	case reflect.String:
		writeString(s, v.String())
	case reflect.Bool:
		if v.Bool() {
			_ = s.WriteByte(tagTrue)
		} else {
			_ = s.WriteByte(tagNil)
		}
	default:
		switch {
		case v.CanInt():
			writeUint(s, uint64(v.Int())) //nolint:gosec // any bijection will do
		case v.CanUint():
			writeUint(s, v.Uint())
		case v.CanFloat():
			writeUint(s, math.Float64bits(v.Float()))
		}
	}
}

// structure adds the fields that are not zero, each after its number.
func (h *hasher) structure(s *maphash.Hash, v reflect.Value) {
	switch v.Type() {
	case typeQuantity:
		writeQuantity(s, v.Interface().(resource.Quantity)) //nolint:forcetypeassert // just compared
		return
	case typeTime:
		t := v.Interface().(metav1.Time) //nolint:forcetypeassert // just compared
		writeUint(s, uint64(t.UnixNano()))
		return
	case typeMicroTime:
		t := v.Interface().(metav1.MicroTime) //nolint:forcetypeassert // just compared
		writeUint(s, uint64(t.UnixNano()))
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
		_ = s.WriteByte(byte(i + int(tagString)))
		h.value(s, f)
	}
	_ = s.WriteByte(tagEnd)
}

var (
	typeQuantity  = reflect.TypeFor[resource.Quantity]() //nolint:gochecknoglobals // a constant
	typeTime      = reflect.TypeFor[metav1.Time]()       //nolint:gochecknoglobals // a constant
	typeMicroTime = reflect.TypeFor[metav1.MicroTime]()  //nolint:gochecknoglobals // a constant
)

func writeQuantity(s *maphash.Hash, q resource.Quantity) {
	writeString(s, string(q.Format))
	if n, ok := q.AsInt64(); ok {
		writeUint(s, uint64(n)) //nolint:gosec // any bijection will do
		return
	}
	writeString(s, q.String())
}

func (h *hasher) list(s *maphash.Hash, v reflect.Value) {
	if v.Kind() == reflect.Slice && v.IsNil() {
		_ = s.WriteByte(tagNil)
		return
	}
	_ = s.WriteByte(tagList)
	writeUint(s, uint64(v.Len())) //nolint:gosec // never negative
	if v.Kind() == reflect.Slice && v.Type().Elem().Kind() == reflect.Uint8 {
		_, _ = s.Write(v.Bytes())
		return
	}
	for i := range v.Len() {
		h.value(s, v.Index(i))
	}
}

// mapping adds the sum of the entries' hashes, so that their order is
// irrelevant. The common map types are spared reflection.
func (h *hasher) mapping(s *maphash.Hash, v reflect.Value) {
	if v.IsNil() {
		_ = s.WriteByte(tagNil)
		return
	}
	_ = s.WriteByte(tagMap)
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
			total += h.entry(k, h.sum(func(s *maphash.Hash) { h.content(s, x) }))
		}
	case corev1.ResourceList:
		for k, x := range m {
			total += h.entry(string(k), h.sum(func(s *maphash.Hash) { writeQuantity(s, x) }))
		}
	default:
		for it := v.MapRange(); it.Next(); {
			total += h.entry(it.Key().String(), h.sum(func(s *maphash.Hash) { h.value(s, it.Value()) }))
		}
	}
	writeUint(s, uint64(v.Len())) //nolint:gosec // never negative
	writeUint(s, total)
}

func (h *hasher) entry(key string, value uint64) uint64 {
	const odd = 0x9e3779b97f4a7c15 // 2^64 / golden ratio
	x := maphash.String(h.seed, key) ^ bits.RotateLeft64(value*odd, 29)
	x ^= x >> 32
	x *= odd
	return x ^ x>>29
}

// content adds unstructured content.
func (h *hasher) content(s *maphash.Hash, x any) {
	switch x := x.(type) {
	case nil:
		_ = s.WriteByte(tagNil)
	case string:
		_ = s.WriteByte(tagString)
		writeString(s, x)
	case bool:
		_ = s.WriteByte(tagSome)
		if x {
			_ = s.WriteByte(tagTrue)
		}
	case int64:
		_ = s.WriteByte(tagInt)
		writeUint(s, uint64(x)) //nolint:gosec // any bijection will do
	case float64:
		if n := int64(x); float64(n) == x {
			_ = s.WriteByte(tagInt)
			writeUint(s, uint64(n)) //nolint:gosec // any bijection will do
			return
		}
		_ = s.WriteByte(tagFloat)
		writeUint(s, math.Float64bits(x))
	case []any:
		_ = s.WriteByte(tagList)
		writeUint(s, uint64(len(x)))
		for i := range x {
			h.content(s, x[i])
		}
	case map[string]any:
		_ = s.WriteByte(tagMap)
		var total uint64
		for k, v := range x {
			sub := h.start()
			h.content(sub, v)
			total += h.entry(k, h.finish(sub))
		}
		writeUint(s, uint64(len(x)))
		writeUint(s, total)
	default:
		h.value(s, reflect.ValueOf(x))
	}
}
