package shape

import (
	"math/rand/v2"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime"
)

// MutateAlike returns a copy of the value with one change that a comparison by field names or by parsed values would miss: another
// spelling of the same number, or an added or removed field whose value is the default of other kinds for a field of that name. It
// returns false if the value has no such field.
func (s *Shape) MutateAlike(r *rand.Rand, value any) (any, string, bool) {
	root := runtime.DeepCopyJSONValue(value)
	var places []place
	collect(&places, place{shape: s, set: func(v any) { root = v }}, root)
	// Strings are the most frequent by far, a removable default the rarest.
	drops := slices.DeleteFunc(slices.Clone(places), func(p place) bool { return !p.has || !p.takesForeignDefault() })
	places = slices.DeleteFunc(places, func(p place) bool { return !p.respellable() && !p.takesForeignDefault() })
	if len(drops) > 0 && chance(r, 2) {
		places = drops
	}
	if len(places) == 0 {
		return value, "", false
	}
	p := pick(r, places)
	description := p.changeAlike(r)
	return root, p.path + ": " + description, true
}

// foreignDefaults returns defaults of Kubernetes APIs for fields of these names.
func foreignDefaults() map[string]any {
	return map[string]any{
		"protocol": "TCP", "kind": "Service", "apiVersion": "v1", "volumeMode": "Filesystem", "scope": "*", "status": "True",
		"type": "PathPrefix", "path": "/", "defaultMode": int64(420), "expirationSeconds": int64(3600), "weight": int64(1),
		"statusCode": int64(302), "group": "gateway.networking.k8s.io", "apiGroup": "rbac.authorization.k8s.io", "replicas": int64(1),
	}
}

// name returns the name of the field; empty if the place is not a field.
func (p *place) name() string {
	if strings.HasSuffix(p.path, "]") {
		return ""
	}
	return p.path[strings.LastIndex(p.path, ".")+1:]
}

// respellable reports whether the place has a string with another spelling, in a field where each spelling is a different value.
func (p *place) respellable() bool {
	text, ok := p.value.(string)
	return ok && len(p.shape.Enum) == 0 && p.shape.Format == "" && text != "" && len(spellings(text)) > 1
}

// takesForeignDefault reports whether the place has, or could have, the default of other kinds for a field of its name.
func (p *place) takesForeignDefault() bool {
	value, ok := p.shape.foreignDefault(p.name())
	return ok && (!p.has || p.remove != nil && p.value == value)
}

// foreignDefault returns the default of other kinds for a field of the name, if the field has no default of its own and accepts it.
func (s *Shape) foreignDefault(name string) (any, bool) {
	value, known := foreignDefaults()[name]
	if !known || s.Default != nil || len(s.Enum) > 0 || s.Format == QuantityFormat {
		return nil, false
	}
	switch value.(type) {
	case string:
		return value, s.Type == StringType || s.Type == AnyType
	default:
		return value, s.Type == IntegerType || s.Type == AnyType
	}
}

func (p *place) changeAlike(r *rand.Rand) string {
	switch {
	case !p.has:
		return "absent -> " + p.put(foreignDefaults()[p.name()])
	case p.respellable() && !p.takesForeignDefault():
		before := p.value.(string) //nolint:forcetypeassert // only texts have spellings
		others := slices.DeleteFunc(slices.Clone(spellings(before)), func(s string) bool { return s == before || s == "" })
		return Text(before) + " -> " + p.put(pick(r, others))
	}
	p.remove()
	return Text(p.value) + " -> absent"
}

// spellings returns the equivalent spellings of a text.
func spellings(text string) []string {
	for _, group := range respellings() {
		if slices.Contains(group, text) {
			return group
		}
	}
	return nil
}
