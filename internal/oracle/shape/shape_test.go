package shape_test

import (
	"encoding/json"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	apiextensions "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apimachinery/pkg/runtime"
	schemagvk "k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/reconcilekit/reconcilekit/internal/oracle/shape"
)

func random(seed uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, 0)) }

func TestRandomShapesAreStructural(t *testing.T) {
	t.Parallel()
	for seed := range uint64(300) {
		given := apiextensionsv1.JSONSchemaProps{Type: "object", Properties: map[string]apiextensionsv1.JSONSchemaProps{
			"spec": shape.Random(random(seed)).Schema(),
		}}
		internal := &apiextensions.JSONSchemaProps{}
		if err := apiextensionsv1.Convert_v1_JSONSchemaProps_To_apiextensions_JSONSchemaProps(&given, internal, nil); err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		structural, err := schema.NewStructural(internal)
		if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		if errs := schema.ValidateStructural(nil, structural); len(errs) > 0 {
			t.Errorf("seed %d: %v", seed, errs)
		}
	}
}

func TestSameSeedSameValues(t *testing.T) {
	t.Parallel()
	for seed := range uint64(50) {
		draw := func() []any {
			r := random(seed)
			s := shape.Random(r)
			value := s.Value(r)
			changed, description := s.Mutate(r, value)
			return []any{s, value, changed, description, s.GoType(r).String()}
		}
		if diff := cmp.Diff(draw(), draw()); diff != "" {
			t.Errorf("seed %d (-first +second):\n%s", seed, diff)
		}
	}
}

func TestMutateDoesNotChangeItsArgument(t *testing.T) {
	t.Parallel()
	changes := 0
	for seed := range uint64(500) {
		r := random(seed)
		s := shape.Random(r)
		value := s.Value(r)
		before := runtime.DeepCopyJSONValue(value)
		changed, _ := s.Mutate(r, value)
		if diff := cmp.Diff(before, value); diff != "" {
			t.Errorf("seed %d: the value was changed (-before +after):\n%s", seed, diff)
		}
		if !cmp.Equal(value, changed) {
			changes++
		}
	}
	if changes < 350 {
		t.Errorf("%d of 500 mutations changed something, want most", changes)
	}
}

// TestMutateAlike searches for mutations whose report of a change is wrong.
func TestMutateAlike(t *testing.T) {
	t.Parallel()
	respelled, dropped, added := 0, 0, 0
	for seed := range uint64(2000) {
		r := random(seed)
		s := shape.Random(r)
		value := s.Value(r)
		changed, description, ok := s.MutateAlike(r, value)
		if ok == cmp.Equal(value, changed) {
			t.Errorf("seed %d: %s: changed %v, reported %v", seed, description, !cmp.Equal(value, changed), ok)
		}
		switch {
		case !ok:
		case strings.HasSuffix(description, "absent"):
			dropped++
		case strings.Contains(description, "absent ->"):
			added++
		default:
			respelled++
		}
	}
	if respelled < 100 || dropped < 20 || added < 100 {
		t.Errorf("%d rewritten, %d removed, %d added: want more of each", respelled, dropped, added)
	}
}

// TestGoTypesRepresentTheValues decodes values into the Go types generated for a shape. A type may drop fields of the
// value, but may not add any, except zero values.
func TestGoTypesRepresentTheValues(t *testing.T) {
	t.Parallel()
	for seed := range uint64(300) {
		r := random(seed)
		s := shape.Random(r)
		value := s.Value(r)
		data, err := json.Marshal(value)
		if err != nil {
			t.Fatal(err)
		}
		into := reflect.New(s.GoType(r)).Interface()
		if err := json.Unmarshal(data, into); err != nil {
			t.Errorf("seed %d: %s into %T: %v", seed, data, into, err)
			continue
		}
		if _, err := json.Marshal(into); err != nil {
			t.Errorf("seed %d: %v", seed, err)
		}
	}
}

func TestFromOpenAPI(t *testing.T) {
	t.Parallel()
	document := `{"components":{"schemas":{
		"io.k8s.api.x.v1.Thing":{"type":"object","required":["spec"],"properties":{
			"apiVersion":{"type":"string"},"metadata":{"$ref":"#/components/schemas/Meta"},"status":{"type":"object"},
			"spec":{"allOf":[{"$ref":"#/components/schemas/Spec"}],"default":{}}},
			"x-kubernetes-group-version-kind":[{"group":"x","version":"v1","kind":"Thing"}]},
		"Spec":{"type":"object","properties":{
			"ports":{"type":"array","items":{"$ref":"#/components/schemas/Port"},"x-kubernetes-list-type":"map","x-kubernetes-list-map-keys":["port"]},
			"again":{"$ref":"#/components/schemas/Spec"},
			"size":{"$ref":"#/components/schemas/io.k8s.apimachinery.pkg.api.resource.Quantity"},
			"labels":{"type":"object","additionalProperties":{"type":"string"}}}},
		"Port":{"type":"object","properties":{"port":{"type":"integer","format":"int32"},
			"target":{"$ref":"#/components/schemas/io.k8s.apimachinery.pkg.util.intstr.IntOrString"}}}}}}`
	s, err := shape.FromOpenAPI([]byte(document), schemagvk.GroupVersionKind{Group: "x", Version: "v1", Kind: "Thing"})
	if err != nil {
		t.Fatal(err)
	}
	spec := s.Properties["spec"]
	if s.Properties["status"] != nil || s.Properties["apiVersion"] != nil || spec == nil {
		t.Fatalf("properties are %v, want metadata and spec", s.Properties)
	}
	if spec.Properties["again"] != spec.Properties["again"].Properties["again"] {
		t.Error("a kind that contains itself is resolved more than once")
	}
	ports := spec.Properties["ports"]
	if ports.ListType != shape.MapList || !cmp.Equal(ports.Keys, []string{"port"}) || !ports.Items.Properties["target"].IntOrString {
		t.Errorf("ports are %+v", ports)
	}
	if spec.Properties["size"].Format != shape.QuantityFormat || spec.Properties["labels"].Values.Type != shape.StringType {
		t.Errorf("size is %+v, labels %+v", spec.Properties["size"], spec.Properties["labels"])
	}
	if _, err := shape.FromOpenAPI([]byte(document), schemagvk.GroupVersionKind{Group: "x", Version: "v1", Kind: "Other"}); err == nil {
		t.Error("a kind that the document does not have: want an error")
	}
}
