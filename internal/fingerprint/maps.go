package fingerprint

import (
	"bytes"
	"reflect"
	"slices"
	"strings"
)

var (
	textsByName = reflect.TypeFor[map[string]string]() //nolint:gochecknoglobals // a constant
	bytesByName = reflect.TypeFor[map[string][]byte]() //nolint:gochecknoglobals // a constant
)

// mapping writes the entries of a map in the order of their keys.
func (d *digest) mapping(v reflect.Value, depth int) bool {
	if v.IsNil() {
		d.number(0)
		return true
	}
	d.number(uint64(v.Len()) + 1) //nolint:gosec // a length is not negative
	if v.CanInterface() {         // without an allocation for each entry
		switch v.Type() {
		case textsByName:
			return entries(d, v.Interface().(map[string]string), d.textOf) //nolint:forcetypeassert // it was looked at
		case bytesByName:
			return entries(d, v.Interface().(map[string][]byte), d.bytesOf) //nolint:forcetypeassert // it was looked at
		}
	}
	switch {
	case v.Len() == 0:
		return true
	case v.Type().Key().Kind() != reflect.String:
		return d.anyEntries(v, depth)
	case v.CanInterface():
		return d.named(v, depth)
	default:
		return d.hidden(v, depth)
	}
}

// entries writes a map with string keys. The keys of nested maps share one stack.
func entries[V any](d *digest, m map[string]V, value func(V)) bool {
	start := len(d.keys)
	for key := range m {
		d.keys = append(d.keys, key)
	}
	keys := d.keys[start:]
	slices.Sort(keys)
	for _, key := range keys {
		d.text(key)
		value(m[key])
	}
	clear(keys)
	d.keys = d.keys[:start]
	return true
}

// textOf and bytesOf write the values of common maps.
func (d *digest) textOf(text string) { d.text(text) }

func (d *digest) bytesOf(raw []byte) {
	if raw == nil {
		d.number(0)
		return
	}
	d.number(1)
	d.bytes(raw)
}

// name is a string key, and the position of its value.
type name struct {
	text string
	at   int
}

func byText(a, b name) int { return strings.Compare(a.text, b.text) }

// room holds the entries of a map for sorting. It is reused, because reflection allocates for each entry.
type room struct {
	key, values reflect.Value
	names       []name
}

// maxRoom is the maximum number of retained entries.
const maxRoom = 64

// named writes a map whose key type is a string.
func (d *digest) named(v reflect.Value, depth int) bool {
	kind, n := v.Type(), v.Len()
	r := d.takeRoom(kind, n)
	for at := v.MapRange(); at.Next(); {
		i := len(r.names)
		r.key.SetIterKey(at)
		r.values.Index(i).SetIterValue(at)
		r.names = append(r.names, name{r.key.String(), i})
	}
	slices.SortFunc(r.names, byText)
	ok := true
	for _, entry := range r.names {
		d.text(entry.text)
		ok = ok && d.value(r.values.Index(entry.at), depth+1)
	}
	d.giveBack(kind, r)
	return ok
}

// takeRoom returns unused space for n entries; a map of the same type may contain another one.
func (d *digest) takeRoom(kind reflect.Type, n int) *room {
	var r *room
	if spare := d.rooms[kind]; len(spare) > 0 {
		r = spare[len(spare)-1]
		d.rooms[kind] = spare[:len(spare)-1]
	}
	if r == nil || r.values.Len() < n {
		r = &room{key: reflect.New(kind.Key()).Elem(), values: reflect.MakeSlice(reflect.SliceOf(kind.Elem()), n, n)}
	}
	return r
}

// giveBack releases the entries.
func (d *digest) giveBack(kind reflect.Type, r *room) {
	if r.values.Len() > maxRoom {
		return
	}
	r.key.SetZero()
	for i := range r.names {
		r.values.Index(i).SetZero()
	}
	clear(r.names)
	r.names = r.names[:0]
	d.rooms[kind] = append(d.rooms[kind], r)
}

// hidden writes a map with string keys in an unexported field.
func (d *digest) hidden(v reflect.Value, depth int) bool {
	names, values := make([]name, 0, v.Len()), make([]reflect.Value, 0, v.Len())
	for at := v.MapRange(); at.Next(); {
		names = append(names, name{at.Key().String(), len(values)})
		values = append(values, at.Value())
	}
	slices.SortFunc(names, byText)
	for _, entry := range names {
		d.text(entry.text)
		if !d.value(values[entry.at], depth+1) {
			return false
		}
	}
	return true
}

// anyEntries writes a map of any kind, in the order of the fingerprints of its keys.
func (d *digest) anyEntries(v reflect.Value, depth int) bool {
	type entry struct {
		key   Sum
		value reflect.Value
	}
	list := make([]entry, 0, v.Len())
	for at := v.MapRange(); at.Next(); {
		key, _, ok := sumOf(at.Key(), depth+1)
		if !ok {
			return false
		}
		list = append(list, entry{key, at.Value()})
	}
	slices.SortFunc(list, func(a, b entry) int { return bytes.Compare(a.key[:], b.key[:]) })
	for _, e := range list {
		d.bytes(e.key[:])
		if !d.value(e.value, depth+1) {
			return false
		}
	}
	return true
}
