package fingerprint

import (
	"crypto/sha256"
	"encoding/binary"
	"hash"
	"math"
	"reflect"
	"sync"
	"time"
)

// Sum is the fingerprint of a value, valid within one process.
type Sum [sha256.Size]byte

// maxDepth is the maximum nesting of values. A deeper value, such as one that contains itself, has no fingerprint.
const maxDepth = 100

// Of returns the fingerprint of a value. ok is false for a value that cannot be compared: functions, channels, locks, atomic and unsafe
// values, and values nested deeper than 100 levels. Nil and empty maps and slices differ, as for reflect.DeepEqual; equal values behind
// different pointers do not.
func Of(value any) (sum Sum, ok bool) {
	sum, _, ok = OfSized(value)
	return sum, ok
}

// OfSized is [Of] that also returns the number of bytes read, approximately the size of the value in memory.
func OfSized(value any) (sum Sum, size int, ok bool) {
	d := newDigest()
	defer d.end()
	d.root = value
	return d.of(reflect.ValueOf(&d.root).Elem(), 0)
}

func sumOf(v reflect.Value, depth int) (sum Sum, size int, ok bool) {
	d := newDigest()
	defer d.end()
	return d.of(v, depth)
}

func newDigest() *digest {
	d, _ := digests.Get().(*digest)
	d.hash.Reset()
	d.pending, d.flushed = d.pending[:0], 0
	return d
}

func (d *digest) end() {
	d.root = nil
	digests.Put(d)
}

func (d *digest) of(v reflect.Value, depth int) (sum Sum, size int, ok bool) {
	if !d.value(v, depth) {
		return Sum{}, 0, false
	}
	d.flush()
	d.hash.Sum(d.sum[:0])
	return d.sum, d.flushed, true
}

//nolint:gochecknoglobals // a pool
var digests = sync.Pool{New: func() any {
	return &digest{hash: sha256.New(), pending: make([]byte, 0, blockSize), rooms: map[reflect.Type][]*room{}}
}}

const blockSize = 4096

// digest encodes a value for the hash. Each part is prefixed with its kind or its length, so that no two values have the same encoding.
type digest struct {
	hash    hash.Hash
	pending []byte
	flushed int      // bytes, so far
	keys    []string // sorted keys of the maps that are open
	rooms   map[reflect.Type][]*room
	// root is the value, and sum the final fingerprint; as fields they need no allocation.
	root any
	sum  Sum
}

func (d *digest) flush() {
	_, _ = d.hash.Write(d.pending) // a hash returns no error
	d.flushed += len(d.pending)
	d.pending = d.pending[:0]
}

func (d *digest) number(n uint64) {
	if len(d.pending)+8 > cap(d.pending) {
		d.flush()
	}
	d.pending = binary.LittleEndian.AppendUint64(d.pending, n)
}

func (d *digest) flag(yes bool) {
	if yes {
		d.number(1)
	} else {
		d.number(0)
	}
}

func (d *digest) text(s string) {
	d.number(uint64(len(s)))
	for len(s) > 0 {
		n := min(len(s), d.room())
		d.pending = append(d.pending, s[:n]...)
		s = s[n:]
	}
}

func (d *digest) bytes(b []byte) {
	d.number(uint64(len(b)))
	for len(b) > 0 {
		n := min(len(b), d.room())
		d.pending = append(d.pending, b[:n]...)
		b = b[n:]
	}
}

// room returns the remaining capacity, at least a byte.
func (d *digest) room() int {
	if len(d.pending) == cap(d.pending) {
		d.flush()
	}
	return cap(d.pending) - len(d.pending)
}

// value writes a value and reports whether that is possible.
func (d *digest) value(v reflect.Value, depth int) bool {
	if depth > maxDepth {
		return false
	}
	switch v.Kind() {
	case reflect.Invalid:
		d.number(0)
	case reflect.Bool:
		d.flag(v.Bool())
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		d.number(uint64(v.Int())) //nolint:gosec // the bits count
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		d.number(v.Uint())
	case reflect.Float32, reflect.Float64:
		d.number(math.Float64bits(v.Float()))
	case reflect.Complex64, reflect.Complex128:
		d.number(math.Float64bits(real(v.Complex())))
		d.number(math.Float64bits(imag(v.Complex())))
	case reflect.String:
		d.text(v.String())
	case reflect.Pointer:
		return d.pointer(v, depth)
	case reflect.Interface:
		return d.dynamic(v, depth)
	case reflect.Slice, reflect.Array:
		return d.list(v, depth)
	case reflect.Struct:
		return d.fields(v, depth)
	case reflect.Map:
		return d.mapping(v, depth)
	case reflect.Func, reflect.Chan, reflect.UnsafePointer:
		d.number(0)
		return v.IsNil()
	case reflect.Uintptr:
		return false
	}
	return true
}

var location = reflect.TypeFor[*time.Location]() //nolint:gochecknoglobals // a constant

func (d *digest) pointer(v reflect.Value, depth int) bool {
	if v.Type() == location {
		return d.location(v)
	}
	if v.IsNil() {
		d.number(0)
		return true
	}
	d.number(1)
	return d.value(v.Elem(), depth+1)
}

// location writes common time zones by name. Others are long tables, which contain a cache.
func (d *digest) location(v reflect.Value) bool {
	switch v.Pointer() {
	case 0, reflect.ValueOf(time.UTC).Pointer():
		d.number(0)
	case reflect.ValueOf(time.Local).Pointer(): //nolint:gosmopolitan // it is what decoded times have
		d.number(1)
	default:
		return false
	}
	return true
}

func (d *digest) dynamic(v reflect.Value, depth int) bool {
	if v.IsNil() {
		d.number(0)
		return true
	}
	elem := v.Elem()
	d.number(uint64(reflect.ValueOf(elem.Type()).Pointer())) // a type has one description per process
	return d.value(elem, depth+1)
}

func (d *digest) list(v reflect.Value, depth int) bool {
	if v.Kind() == reflect.Slice && v.IsNil() {
		d.number(0)
		return true
	}
	d.number(uint64(v.Len()) + 1) //nolint:gosec // a length is not negative
	if v.Kind() == reflect.Slice && v.Type().Elem().Kind() == reflect.Uint8 {
		d.bytes(v.Bytes())
		return true
	}
	for i := range v.Len() {
		if !d.value(v.Index(i), depth+1) {
			return false
		}
	}
	return true
}

func (d *digest) fields(v reflect.Value, depth int) bool {
	if path := v.Type().PkgPath(); path == "sync" || path == "sync/atomic" {
		return false
	}
	for i := range v.NumField() { //nolint:modernize // the iterator over fields allocates
		if !d.value(v.Field(i), depth+1) {
			return false
		}
	}
	return true
}
