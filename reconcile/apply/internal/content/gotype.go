package content

import (
	"encoding/json"
	"reflect"
	"strings"
	"sync"
)

// structPlan is what encoding/json knows about a struct type, computed once.
type structPlan struct {
	fields []fieldPlan
	// opaque says that the struct hides fields and encodes itself.
	opaque bool
}

// fieldPlan is one field of a structPlan.
type fieldPlan struct {
	index     int
	name      string // JSON name; empty for inline
	inline    bool
	omitEmpty bool
	omitZero  bool
}

// structPlans caches the plans. Its size is bounded by the Go types in the
// program.
type structPlans struct {
	plans sync.Map // reflect.Type to *structPlan
}

func (p *structPlans) of(t reflect.Type) *structPlan {
	if plan, ok := p.plans.Load(t); ok {
		return plan.(*structPlan) //nolint:forcetypeassert // only this method stores
	}
	plan := newStructPlan(t)
	p.plans.Store(t, plan)
	return plan
}

var typeMarshaler = reflect.TypeFor[json.Marshaler]() //nolint:gochecknoglobals // a constant

func newStructPlan(t reflect.Type) *structPlan {
	plan := &structPlan{}
	for i := range t.NumField() {
		f := t.Field(i)
		if !f.IsExported() && !f.Anonymous {
			plan.opaque = plan.opaque || reflect.PointerTo(t).Implements(typeMarshaler)
			continue
		}
		tag, tagged := f.Tag.Lookup("json")
		if tag == "-" {
			continue
		}
		name, options, _ := strings.Cut(tag, ",")
		fp := fieldPlan{index: i, name: name}
		for option := range strings.SplitSeq(options, ",") {
			switch option {
			case "omitempty":
				fp.omitEmpty = true
			case "omitzero":
				fp.omitZero = true
			case "inline":
				fp.inline = true
			}
		}
		if f.Anonymous && name == "" && indirect(f.Type).Kind() == reflect.Struct {
			fp.inline = true
		}
		if !tagged || (name == "" && !fp.inline) {
			fp.name = f.Name
		}
		plan.fields = append(plan.fields, fp)
	}
	return plan
}

func indirect(t reflect.Type) reflect.Type {
	if t.Kind() == reflect.Pointer {
		return t.Elem()
	}
	return t
}
