package fingerprint

import (
	"bytes"
	"reflect"
	"slices"
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
	return d.anyEntries(v, depth)
}

// entries writes a map whose keys are texts. The keys of maps that are open lie on one stack.
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
