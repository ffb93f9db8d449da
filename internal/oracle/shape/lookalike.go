package shape

import (
	"math/rand/v2"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime"
)

// MutateAlike returns a copy of the value with one change that somebody who goes
// by the name of a field, or by what a text means to a parser, takes for none:
// a text in another spelling of the same number, or a field whose value is the
// default that other kinds have for a field of that name, added or removed. It
// returns false where the value has no such place.
func (s *Shape) MutateAlike(r *rand.Rand, value any) (any, string, bool) {
	root := runtime.DeepCopyJSONValue(value)
	var places []place
	collect(&places, place{shape: s, set: func(v any) { root = v }}, root)
	// Texts are the most frequent by far, a default to take away the rarest.
	drops := slices.DeleteFunc(slices.Clone(places), func(p place) bool { return !p.has || !p.takesForeignDefault() })
	places = slices.DeleteFunc(places, func(p place) bool { return !p.respellable() && !p.takesForeignDefault() })
	if len(drops) > 0 && chance(r, 2) {
		places = drops
	}
	if len(places) == 0 {
		return value, "", false
	}
	p := pick(r, places)
	said := p.changeAlike(r)
	return root, p.path + ": " + said, true
}

// foreignDefaults are defaults that APIs of Kubernetes have for fields of these
// names.
func foreignDefaults() map[string]any {
	return map[string]any{
		"protocol": "TCP", "kind": "Service", "apiVersion": "v1", "volumeMode": "Filesystem", "scope": "*", "status": "True",
		"type": "PathPrefix", "path": "/", "defaultMode": int64(420), "expirationSeconds": int64(3600), "weight": int64(1),
		"statusCode": int64(302), "group": "gateway.networking.k8s.io", "apiGroup": "rbac.authorization.k8s.io", "replicas": int64(1),
	}
}

// name is the name of the field; empty for what is none.
func (p *place) name() string {
	if strings.HasSuffix(p.path, "]") {
		return ""
	}
	return p.path[strings.LastIndex(p.path, ".")+1:]
}

// respellable reports whether the place holds a text that has another spelling,
// in a field for which each spelling is a value of its own.
func (p *place) respellable() bool {
	text, ok := p.value.(string)
	return ok && len(p.shape.Enum) == 0 && p.shape.Format == "" && text != "" && len(spellings(text)) > 1
}

// takesForeignDefault reports whether the place holds, or could hold, the
// default that other kinds have for a field of its name.
func (p *place) takesForeignDefault() bool {
	value, ok := p.shape.foreignDefault(p.name())
	return ok && (!p.has || p.remove != nil && p.value == value)
}

// foreignDefault returns the default that other kinds have for a field of the
// name, if the field has none of its own and can hold it.
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

// spellings are the texts that somebody could take for the same one.
func spellings(text string) []string {
	for _, group := range respellings() {
		if slices.Contains(group, text) {
			return group
		}
	}
	return nil
}
