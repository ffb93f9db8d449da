package content

import (
	"cmp"
	"reflect"
	"slices"
	"strings"
)

// field is one JSON field of a struct, possibly of an embedded struct.
type field struct {
	// index is the path of the field, as for [reflect.Value.FieldByIndex].
	index []int
	// viaPointer reports that the path has an embedded pointer.
	viaPointer bool
	name       string
	omitEmpty  bool
	omitZero   bool
	quoted     bool
	tagged     bool
	info       *typeInfo
}

// of returns the field of a struct, and false below an embedded nil pointer.
func (f *field) of(v reflect.Value) (reflect.Value, bool) {
	if len(f.index) == 1 {
		return v.Field(f.index[0]), true
	}
	for _, i := range f.index {
		if v.Kind() == reflect.Pointer {
			if v.IsNil() {
				return reflect.Value{}, false
			}
			v = v.Elem()
		}
		v = v.Field(i)
	}
	return v, true
}

// structFields returns the fields that encoding/json would write. Of several fields with one name it selects the least nested, then the
// only one with a tag, otherwise none.
func (p *typeInfos) structFields(t reflect.Type) []field {
	all := p.collect(t, nil, false, nil)
	byName := map[string][]field{}
	for _, f := range all {
		byName[f.name] = append(byName[f.name], f)
	}
	out := make([]field, 0, len(byName))
	for _, same := range byName {
		if f, ok := dominant(same); ok {
			f.info = p.compile(t.FieldByIndex(f.index).Type)
			out = append(out, f)
		}
	}
	slices.SortFunc(out, func(a, b field) int { return slices.Compare(a.index, b.index) })
	return out
}

func dominant(same []field) (field, bool) {
	slices.SortStableFunc(same, func(a, b field) int {
		return cmp.Or(cmp.Compare(len(a.index), len(b.index)), cmp.Compare(rank(a), rank(b)))
	})
	if len(same) > 1 && len(same[0].index) == len(same[1].index) && same[0].tagged == same[1].tagged {
		return field{}, false
	}
	return same[0], true
}

func rank(f field) int {
	if f.tagged {
		return 0
	}
	return 1
}

// collect lists the fields of a struct and of its embedded structs. around are the structs that embed it.
func (p *typeInfos) collect(t reflect.Type, index []int, viaPointer bool, around []reflect.Type) []field {
	if slices.Contains(around, t) {
		return nil
	}
	around = append(slices.Clone(around), t)
	var out []field
	for i := range t.NumField() {
		sf := t.Field(i)
		tag := sf.Tag.Get("json")
		embedded := sf.Anonymous && indirect(sf.Type).Kind() == reflect.Struct
		if tag == "-" || (!sf.IsExported() && !embedded) {
			continue
		}
		name, options, _ := strings.Cut(tag, ",")
		here := append(slices.Clone(index), i)
		if name == "" && inlined(sf, options) {
			out = append(out, p.collect(indirect(sf.Type), here, viaPointer || sf.Type.Kind() == reflect.Pointer, around)...)
			continue
		}
		if !sf.IsExported() {
			continue
		}
		f := field{index: here, viaPointer: viaPointer, name: name, tagged: name != ""}
		if name == "" {
			f.name = sf.Name
		}
		for option := range strings.SplitSeq(options, ",") {
			f.omitEmpty = f.omitEmpty || option == "omitempty"
			f.omitZero = f.omitZero || option == "omitzero"
			f.quoted = f.quoted || (option == "string" && quotable(sf.Type))
		}
		out = append(out, f)
	}
	return out
}

// inlined reports whether the fields of an unnamed field belong to the enclosing struct: the field is an embedded struct, or has the
// inline option.
func inlined(sf reflect.StructField, options string) bool {
	if indirect(sf.Type).Kind() != reflect.Struct {
		return false
	}
	return sf.Anonymous || slices.Contains(strings.Split(options, ","), "inline")
}

func quotable(t reflect.Type) bool {
	switch shapeOf(indirect(t)) {
	case shapeString, shapeBool, shapeInt, shapeUint, shapeFloat:
		return true
	default:
		return false
	}
}
