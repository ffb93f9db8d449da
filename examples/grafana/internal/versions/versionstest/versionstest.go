// Package versionstest tests conversions between API versions.
package versionstest

import (
	"encoding/json"
	"fmt"
	"math/rand"
	"reflect"
	"testing"

	"github.com/google/go-cmp/cmp"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/api/apitesting/fuzzer"
	metafuzzer "k8s.io/apimachinery/pkg/apis/meta/fuzzer"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"sigs.k8s.io/controller-runtime/pkg/conversion"
	"sigs.k8s.io/randfill"
)

// RoundTrip fills objects of both versions with random values, and checks that the conversion to the other version and back changes no
// field. The objects are those of the hub and of a version that converts to it; both stay empty.
func RoundTrip(t *testing.T, hub conversion.Hub, other conversion.Convertible) {
	t.Helper()
	const objects = 200
	// The seed is fixed, so that a failure can be repeated.
	random := fuzzer.FuzzerFor(fuzzer.MergeFuzzerFuncs(metafuzzer.Funcs, untyped), rand.NewSource(1), serializer.NewCodecFactory(runtime.NewScheme()))
	for range objects {
		for _, empty := range []any{hub, other} {
			filled := fresh(empty)
			random.Fill(filled)
			before := sent(t, filled)
			between := sent(t, convert(t, before, hub, other))
			after := sent(t, convert(t, between, hub, other))
			if diff := cmp.Diff(before, after); diff != "" {
				t.Fatalf("the conversion to %T and back changes the object (-before +after):\n%s", between, diff)
			}
		}
	}
}

// untyped fills the fields whose Go type is any JSON.
func untyped(serializer.CodecFactory) []any {
	value := func(c randfill.Continue) []byte { return fmt.Appendf(nil, `{"field":%d}`, c.Int31()) }
	return []any{
		func(e *runtime.RawExtension, c randfill.Continue) { e.Raw = value(c) },
		func(j *apiextensionsv1.JSON, c randfill.Continue) { j.Raw = value(c) },
	}
}

// convert converts an object to the other one of both versions.
func convert(t *testing.T, from any, hub conversion.Hub, other conversion.Convertible) any {
	t.Helper()
	var to any
	var err error
	switch from := from.(type) {
	case conversion.Hub:
		converted := fresh(other)
		to, err = converted, converted.ConvertFrom(from)
	case conversion.Convertible:
		converted := fresh(hub)
		to, err = converted, from.ConvertTo(converted)
	}
	if err != nil {
		t.Fatal(err)
	}
	return to
}

// sent returns the object as the API server receives it.
func sent(t *testing.T, object any) any {
	t.Helper()
	received := fresh(object)
	text, err := json.Marshal(object)
	if err == nil {
		err = json.Unmarshal(text, received)
	}
	if err != nil {
		t.Fatal(err)
	}
	return received
}

// fresh returns a pointer to a new value of the type.
func fresh[T any](object T) T {
	return reflect.New(reflect.TypeOf(object).Elem()).Interface().(T) //nolint:forcetypeassert // it is of the same type
}
