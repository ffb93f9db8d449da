package content_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"hash/maphash"
	"math"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/intstr"
	applycorev1 "k8s.io/client-go/applyconfigurations/core/v1"

	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/content"
)

// The following types implement different encoding interfaces.
type (
	byValue   struct{ Hidden string }
	byPointer struct{ Hidden string }
	byText    struct{ Hidden string }
	hides     struct {
		Shown  string `json:"shown,omitempty"`
		Hidden string `json:"-"`
	}
	textKey    struct{ A, B string }
	listOfOwn  []int
	embedsTime struct{ metav1.Time }
)

func (v byValue) MarshalJSON() ([]byte, error)    { return json.Marshal(map[string]any{"x": v.Hidden}) }
func (v *byPointer) MarshalJSON() ([]byte, error) { return json.Marshal([]any{v.Hidden}) }
func (v byText) MarshalText() ([]byte, error)     { return []byte("text " + v.Hidden), nil }
func (v hides) MarshalJSON() ([]byte, error)      { return json.Marshal(v.Shown + v.Hidden) }
func (k textKey) MarshalText() ([]byte, error)    { return []byte(k.A + "/" + k.B), nil }
func (l listOfOwn) MarshalJSON() ([]byte, error)  { return json.Marshal(fmt.Sprint(len(l))) }

// Embedded is exported so that it can be filled.
type Embedded struct {
	Plain string `json:"plain"`
	Both  string `json:"both,omitempty"`
}

type everything struct {
	*Embedded `json:",inline"`

	Both        string                                   `json:"both,omitempty"`
	FreeForm    apiextensionsv1.JSON                     `json:"freeForm,omitempty"`
	FreeFormPtr *apiextensionsv1.JSON                    `json:"freeFormPtr,omitempty"`
	Raw         runtime.RawExtension                     `json:"raw,omitempty"`
	RawMessage  json.RawMessage                          `json:"rawMessage,omitempty"`
	Any         any                                      `json:"any,omitempty"`
	ByInt       map[int8]string                          `json:"byInt,omitempty"`
	ByUint      map[uint8]string                         `json:"byUint,omitempty"`
	ByText      map[textKey]string                       `json:"byText,omitempty"`
	ByPointers  map[string]*string                       `json:"byPointers,omitempty"`
	Bytes       map[string][]byte                        `json:"bytes,omitempty"`
	OwnMap      map[string]byPointer                     `json:"ownMap,omitempty"`
	Inline      map[string]string                        `json:",inline"`
	Unsigned    uint64                                   `json:"unsigned,omitempty"`
	Float       float64                                  `json:"float,omitempty"`
	Float32     float32                                  `json:"float32,omitempty"`
	Number      json.Number                              `json:"number,omitempty"`
	Value       byValue                                  `json:"value"`
	ValuePtr    *byValue                                 `json:"valuePtr,omitempty"`
	Pointer     byPointer                                `json:"pointer"`
	Text        byText                                   `json:"text"`
	Hides       hides                                    `json:"hides"`
	List        listOfOwn                                `json:"list,omitempty"`
	Hideous     []hides                                  `json:"hideous,omitempty"`
	Arrays      [2]int8                                  `json:"arrays"`
	When        metav1.Time                              `json:"when,omitempty"`
	Micro       *metav1.MicroTime                        `json:"micro,omitempty"`
	GoTime      time.Time                                `json:"goTime"`
	Duration    metav1.Duration                          `json:"duration,omitempty"`
	Embeds      embedsTime                               `json:"embeds"`
	Quoted      int                                      `json:"quoted,omitempty,string"`
	Quantity    resource.Quantity                        `json:"quantity,omitempty"`
	Quantities  corev1.ResourceList                      `json:"quantities,omitempty"`
	Port        intstr.IntOrString                       `json:"port,omitempty"`
	PortPtr     *intstr.IntOrString                      `json:"portPtr,omitempty"`
	Nested      *everything                              `json:"nested,omitempty"`
	Env         []corev1.EnvVar                          `json:"env,omitempty"`
	Volumes     []corev1.Volume                          `json:"volumes,omitempty"`
	Config      *applycorev1.ConfigMapApplyConfiguration `json:"config,omitempty"`
	Bools       []*bool                                  `json:"bools,omitempty"`
	Zero        metav1.Time                              `json:"zero,omitempty,omitzero"`
}

// filler sets random fields to values of a small set, so that two fillings
// often differ only slightly.
type filler struct{ *rand.Rand }

func pick[T any](f filler, values ...T) T { return values[f.IntN(len(values))] }

func (f filler) json() []byte {
	return []byte(pick(f, `{}`, `{"a":1}`, `{"a":1.0}`, `{"a":2}`, `[]`, `[1]`, `"x"`, `1`, `1.5`, `18446744073709551615`,
		`9007199254740993`, `9007199254740992`, `{"a":null}`, `true`, `{"b":{"a":1}}`))
}

func (f filler) any() any {
	return pick[any](f, nil, int64(1), int32(1), 1.5, "1", "", true, []any{}, []any{int64(1)}, map[string]any{"a": nil}, map[string]any{},
		[]string{"a"}, map[string]string{"a": "b"}, byValue{"1"}, &byPointer{"1"}, hides{"", "1"}, uint64(math.MaxUint64), uint64(1), int64(math.MinInt64),
		math.Copysign(0, -1), float64(1<<63), int64(math.MaxInt64), metav1.Unix(5, 0), json.Number("1"), json.Number("1e3"), int64(1000), struct {
			A string `json:"a"`
		}{"b"}, struct {
			B string `json:"b"`
		}{"b"}, struct{ C string }{})
}

func (f filler) text() string { return pick(f, "", "a", "b", "a\x00b") }

func (f filler) known(v reflect.Value) bool {
	switch x := v.Addr().Interface().(type) {
	case *apiextensionsv1.JSON:
		x.Raw = f.json()
	case *runtime.RawExtension:
		if f.IntN(3) == 0 {
			x.Object = &corev1.ConfigMap{Data: map[string]string{"a": f.text()}}
		} else {
			x.Raw = f.json()
		}
	case *json.RawMessage:
		*x = f.json()
	case *any:
		*x = f.any()
	case *json.Number:
		*x = pick(f, json.Number("1"), json.Number("1.0"), json.Number("18446744073709551615"))
	case *metav1.Time:
		*x = pick(f, metav1.Unix(0, 0), metav1.Unix(1, 0), metav1.Unix(1, 5), metav1.Date(1000, 1, 1, 0, 0, 0, 0, time.UTC), metav1.Time{})
	case *metav1.MicroTime:
		x.Time = pick(f, time.Unix(0, 0), time.Unix(0, 1000), time.Unix(0, 1001), time.Unix(1, 0))
	case *time.Time:
		*x = pick(f, time.Unix(0, 0).UTC(), time.Unix(0, 1).UTC(), time.Unix(0, 0).In(time.FixedZone("x", 3600)))
	case *resource.Quantity:
		*x = resource.MustParse(pick(f, "1", "1000m", "1.5", "1Ki", "1024", "1k", "0", "0.1n", "1e3", "100000000000000000000"))
	case *intstr.IntOrString:
		*x = pick(f, intstr.FromInt32(1), intstr.FromString("1"), intstr.FromInt32(0), intstr.FromString(""))
	default:
		return false
	}
	return true
}

func (f filler) fill(v reflect.Value, depth int) {
	if !v.CanSet() || depth > 6 || f.IntN(4) == 0 || f.known(v) {
		return
	}
	switch v.Kind() {
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		f.fill(v.Elem(), depth+1)
	case reflect.Struct:
		few := f.IntN(2) == 0
		for _, field := range v.Fields() {
			if !few || f.IntN(10) == 0 {
				f.fill(field, depth+1)
			}
		}
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), f.IntN(3), 3))
		for i := range v.Len() {
			f.fill(v.Index(i), depth+1)
		}
	case reflect.Array:
		for i := range v.Len() {
			f.fill(v.Index(i), depth+1)
		}
	case reflect.Map:
		v.Set(reflect.MakeMap(v.Type()))
		for range f.IntN(3) {
			key, value := reflect.New(v.Type().Key()).Elem(), reflect.New(v.Type().Elem()).Elem()
			f.fill(key, depth+1)
			f.fill(value, depth+1)
			v.SetMapIndex(key, value)
		}
	case reflect.String:
		v.SetString(f.text())
	case reflect.Bool:
		v.SetBool(f.IntN(2) == 0)
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		v.SetInt(int64(f.IntN(3)))
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		v.SetUint(pick(f, uint64(0), 1))
		if v.Type().Bits() == 64 {
			v.SetUint(pick(f, 0, 1, uint64(math.MaxUint64), uint64(math.MaxInt64)+1))
		}
	case reflect.Float32, reflect.Float64:
		v.SetFloat(pick(f, 0, 1, 0.1, 1e300, math.Copysign(0, -1), 1<<53))
	default:
	}
}

// sums hashes and encodes values of any type.
type sums struct {
	encoder *content.Encoder
	hasher  *content.Hasher
}

func newSums() sums {
	e := content.NewEncoder()
	return sums{e, content.NewHasher(e)}
}

func (s sums) hash(x any) uint64 {
	return s.hasher.Sum(func(h *maphash.Hash) { s.hasher.Object(h, x) })
}

func (s sums) body(t *testing.T, x any) string {
	t.Helper()
	m, err := s.encoder.Intent(x)
	if err != nil {
		return "error: " + err.Error()
	}
	data, err := json.Marshal(m)
	if err != nil {
		t.Fatalf("%T: %v", x, err)
	}
	return string(data)
}

// TestHashesOfDifferentBodies generates random values of one and of several types, and
// checks that no two with different bodies have the same hash.
func TestHashesOfDifferentBodies(t *testing.T) {
	t.Parallel()
	seed := uint64(time.Now().YearDay())
	t.Logf("seed %d", seed)
	f := filler{rand.New(rand.NewPCG(seed, 1))}
	s := newSums()
	bodies := map[uint64]string{}
	distinct := map[string]bool{}
	for range 6000 {
		x := pick[any](f, &everything{}, &everything{}, &corev1.Pod{}, &corev1.Service{}, &corev1.Secret{},
			&applycorev1.ConfigMapApplyConfiguration{}, &corev1.ConfigMap{})
		f.fill(reflect.ValueOf(x).Elem(), 0)
		body, hash := s.body(t, x), s.hash(x)
		if again := s.hash(x); again != hash {
			t.Fatalf("%T hashes to %x, then to %x: %s", x, hash, again, body)
		}
		if other, known := bodies[hash]; known && other != body {
			t.Fatalf("one hash for\n%s\n%s", body, other)
		}
		bodies[hash] = body
		distinct[body] = true
	}
	t.Logf("%d bodies, %d hashes", len(distinct), len(bodies))
	if len(distinct) < 1000 {
		t.Errorf("only %d different bodies were drawn", len(distinct))
	}
}

// TestHashOfOneChange checks changes of single values that Go types omit or encode specially.
func TestHashOfOneChange(t *testing.T) {
	t.Parallel()
	cases := map[string][2]any{
		"FreeForm":          {raw(`{"replicas":1}`), raw(`{"replicas":2}`)},
		"FreeFormEmpty":     {raw(`{}`), &everything{}},
		"FreeFormLargeInt":  {raw(`18446744073709551615`), raw(`18446744073709551614`)},
		"RawExtension":      {&everything{Raw: runtime.RawExtension{Raw: []byte(`{"a":1}`)}}, &everything{Raw: runtime.RawExtension{Raw: []byte(`{"a":2}`)}}},
		"RawObject":         {&everything{Raw: runtime.RawExtension{Object: &corev1.Pod{}}}, &everything{Raw: runtime.RawExtension{Object: &corev1.Pod{Spec: corev1.PodSpec{NodeName: "x"}}}}},
		"HiddenByValue":     {&everything{Value: byValue{"a"}}, &everything{Value: byValue{"b"}}},
		"HiddenByPointer":   {&everything{Pointer: byPointer{"a"}}, &everything{Pointer: byPointer{"b"}}},
		"HiddenField":       {&everything{Hides: hides{"", "a"}}, &everything{Hides: hides{"", "b"}}},
		"HiddenInList":      {&everything{Hideous: []hides{{"", "a"}}}, &everything{Hideous: []hides{{"", "b"}}}},
		"HiddenInMap":       {&everything{OwnMap: map[string]byPointer{"x": {"a"}}}, &everything{OwnMap: map[string]byPointer{"x": {"b"}}}},
		"IntKeys":           {&everything{ByInt: map[int8]string{1: "a"}}, &everything{ByInt: map[int8]string{2: "a"}}},
		"UintKeys":          {&everything{ByUint: map[uint8]string{1: "a"}}, &everything{ByUint: map[uint8]string{2: "a"}}},
		"TextKeys":          {&everything{ByText: map[textKey]string{{"a", ""}: ""}}, &everything{ByText: map[textKey]string{{"b", ""}: ""}}},
		"EmbeddedPointer":   {&everything{Embedded: &Embedded{}}, &everything{}},
		"LargeUnsigned":     {&everything{Unsigned: math.MaxUint64}, &everything{Unsigned: math.MaxUint64 - 1}},
		"DistantTimes":      {&everything{When: metav1.Unix(0, 0)}, &everything{When: metav1.Unix(1<<64/1_000_000_000, 0)}},
		"InterfaceTypes":    {&everything{Any: struct{ A int }{1}}, &everything{Any: struct{ B int }{1}}},
		"InterfaceZero":     {&everything{Any: int32(0)}, &everything{Any: byText{}}},
		"EmbeddedMarshaler": {&everything{Embeds: embedsTime{metav1.Unix(1, 0)}}, &everything{Embeds: embedsTime{metav1.Unix(2, 0)}}},
		"RawMessage":        {&everything{RawMessage: json.RawMessage(`[1]`)}, &everything{RawMessage: json.RawMessage(`[2]`)}},
		"Configuration":     {applycorev1.ConfigMap("a", "b").WithData(map[string]string{"x": "1"}), applycorev1.ConfigMap("a", "b").WithData(map[string]string{"x": "2"})},
		"GoType":            {&corev1.ConfigMap{Immutable: new(true)}, &corev1.Secret{Immutable: new(true)}},
	}
	s := newSums()
	for name, pair := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if a, b := s.body(t, pair[0]), s.body(t, pair[1]); a == b && name != "GoType" {
				t.Fatalf("the bodies must differ: %s", a)
			}
			if s.hash(pair[0]) == s.hash(pair[1]) {
				t.Errorf("one hash for %s and %s", s.body(t, pair[0]), s.body(t, pair[1]))
			}
		})
	}
}

// FuzzContentHash checks that two unstructured contents with different bodies have
// different hashes, and that no content makes the encoder panic.
func FuzzContentHash(f *testing.F) {
	for _, seed := range []string{`{"a":1}`, `{"a":1.0}`, `{"a":-0}`, `{"a":9223372036854775808}`, `{"a":[[]]}`, `{"a":[{}]}`, `{"a":null}`} {
		f.Add([]byte(seed), []byte(`{"a":1}`))
	}
	s := newSums()
	f.Fuzz(func(t *testing.T, a, b []byte) {
		first, second := reencode(t, s, a), reencode(t, s, b)
		if first == nil || second == nil {
			return
		}
		if !bytes.Equal(first.body, second.body) && first.hash == second.hash {
			t.Errorf("one hash for %s and %s", first.body, second.body)
		}
	})
}

type encodedContent struct {
	body []byte
	hash uint64
}

func reencode(t *testing.T, s sums, data []byte) *encodedContent {
	t.Helper()
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber()
	var m map[string]any
	if d.Decode(&m) != nil || m == nil {
		return nil
	}
	holder := &everything{Any: m}
	return &encodedContent{[]byte(s.body(t, holder)), s.hash(holder)}
}

func TestNumbersAreKept(t *testing.T) {
	t.Parallel()
	s := newSums()
	cases := map[string]struct {
		value *everything
		want  string
	}{
		"Unsigned":   {&everything{Unsigned: math.MaxUint64}, `"unsigned":18446744073709551615`},
		"FreeForm":   {&everything{FreeForm: apiextensionsv1.JSON{Raw: []byte(`[9007199254740993, 18446744073709551615, 1.10]`)}}, `"freeForm":[9007199254740993,18446744073709551615,1.1]`},
		"Float32":    {&everything{Float32: 0.1}, `"float32":0.1`},
		"Quoted":     {&everything{Quoted: 7}, `"quoted":"7"`},
		"Outermost":  {&everything{Embedded: &Embedded{Both: "inner"}}, `"plain":""`},
		"EmptyValue": {raw("{}"), `"freeForm":{}`},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			body := s.body(t, tc.value)
			if !strings.Contains(body, tc.want) {
				t.Errorf("want %s in %s", tc.want, body)
			}
			if strings.Contains(body, "inner") {
				t.Errorf("a field that another one hides is sent: %s", body)
			}
		})
	}
}

func raw(text string) *everything {
	return &everything{FreeForm: apiextensionsv1.JSON{Raw: []byte(text)}}
}

// TestUnencodable checks that a value that cannot be encoded as JSON is an error, not a panic.
func TestUnencodable(t *testing.T) {
	t.Parallel()
	s := newSums()
	cycle := &everything{}
	cycle.Nested = cycle
	for name, x := range map[string]*everything{
		"NaN": {Float: math.NaN()}, "Inf": {Float: math.Inf(1)}, "Function": {Any: func() {}}, "Cycle": cycle,
		"BadJSON": raw(`{`), "TwoValues": raw(`1 2`), "CyclicContent": {Any: cycle},
	} {
		if _, err := s.encoder.Intent(x); err == nil {
			t.Errorf("%s: encoded", name)
		}
		s.hash(x)
	}
}
