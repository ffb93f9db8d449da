package v1alpha1_test

import (
	"math/rand/v2"
	"reflect"
	"strconv"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/reconcilekit/reconcilekit/examples/modelregistry/api/v1alpha1"
	"github.com/reconcilekit/reconcilekit/examples/modelregistry/api/v1beta1"
)

// fill sets every field that can be set, each pointer, list and map with the chance of one half, so that what a conversion
// forgets shows for some seed.
func fill(draw *rand.Rand, v reflect.Value) {
	some := func() bool { return draw.IntN(2) == 0 }
	switch v.Kind() {
	case reflect.Pointer:
		if some() {
			v.Set(reflect.New(v.Type().Elem()))
			fill(draw, v.Elem())
		}
	case reflect.Struct:
		if v.Type() == reflect.TypeFor[resource.Quantity]() {
			v.Set(reflect.ValueOf(resource.MustParse(strconv.Itoa(1 + draw.IntN(9)))))
			return
		}
		for _, field := range v.Fields() {
			fill(draw, field)
		}
	case reflect.Slice:
		if some() {
			v.Set(reflect.MakeSlice(v.Type(), 1, 1))
			fill(draw, v.Index(0))
		}
	case reflect.Map:
		if some() {
			key, value := reflect.New(v.Type().Key()).Elem(), reflect.New(v.Type().Elem()).Elem()
			key.SetString("k" + strconv.Itoa(draw.IntN(9)))
			fill(draw, value)
			v.Set(reflect.MakeMap(v.Type()))
			v.SetMapIndex(key, value)
		}
	case reflect.String:
		if some() {
			v.SetString("s" + strconv.Itoa(draw.IntN(9)))
		}
	case reflect.Bool:
		v.SetBool(some())
	case reflect.Int32, reflect.Int64:
		v.SetInt(int64(draw.IntN(9)))
	default:
		panic("no value for " + v.Type().String())
	}
}

const seeds = 500

// TestConversionKeepsStorage checks that a registry of the stored version is the same after it was read and written in this one.
func TestConversionKeepsStorage(t *testing.T) {
	t.Parallel()
	for seed := range uint64(seeds) {
		draw := rand.New(rand.NewPCG(seed, 1))
		want := &v1beta1.ModelRegistry{ObjectMeta: metav1.ObjectMeta{Name: "r", Namespace: "n", Annotations: map[string]string{"a": "b"}}}
		fill(draw, reflect.ValueOf(&want.Spec).Elem())
		if want.Spec.OAuthProxy != nil {
			want.Spec.KubeRBACProxy = nil // admission and the schema let nobody have both
		}
		if p := want.Spec.Postgres; p != nil && (p.Host != "" || p.HostAddress != "") {
			p.GenerateDeployment = nil // nor a host and a generated database
		}
		if g := want.Spec.Grpc; g != nil && *g == (v1beta1.GrpcSpec{}) {
			want.Spec.Grpc = nil // which says the same
		}
		want.Status.Hosts, want.Status.HostsStr = []string{"h"}, "h"
		here, got := &v1alpha1.ModelRegistry{}, &v1beta1.ModelRegistry{}
		if err := here.ConvertFrom(want); err != nil {
			t.Fatal(err)
		}
		if err := here.ConvertTo(got); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
			t.Fatalf("seed %d (-want +got):\n%s", seed, diff)
		}
	}
}

// TestConversionKeepsThisVersion checks that a registry of this version comes back from storage as it was, save that the mesh has
// become a proxy.
func TestConversionKeepsThisVersion(t *testing.T) {
	t.Parallel()
	for seed := range uint64(seeds) {
		draw := rand.New(rand.NewPCG(seed, 2))
		want := &v1alpha1.ModelRegistry{ObjectMeta: metav1.ObjectMeta{Name: "r", Namespace: "n"}}
		fill(draw, reflect.ValueOf(&want.Spec).Elem())
		stored, got := &v1beta1.ModelRegistry{}, &v1alpha1.ModelRegistry{}
		if err := want.DeepCopy().ConvertTo(stored); err != nil {
			t.Fatal(err)
		}
		if err := got.ConvertFrom(stored); err != nil {
			t.Fatal(err)
		}
		if want.Spec.Istio != nil {
			if got.Spec.OAuthProxy == nil {
				t.Fatalf("seed %d: the mesh was not converted to a proxy", seed)
			}
			want.Spec.Istio, want.Spec.OAuthProxy = nil, got.Spec.OAuthProxy
		}
		if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
			t.Fatalf("seed %d (-want +got):\n%s", seed, diff)
		}
	}
}

// TestIstioToProxy checks what becomes of the mesh.
func TestIstioToProxy(t *testing.T) {
	t.Parallel()
	spec := v1alpha1.ModelRegistrySpec{Istio: &v1alpha1.IstioConfig{}}
	var stored v1beta1.ModelRegistry
	if err := (&v1alpha1.ModelRegistry{Spec: spec}).ConvertTo(&stored); err != nil {
		t.Fatal(err)
	}
	eight, four := int32(8443), int32(443)
	want := &v1beta1.ProxyConfig{Port: &eight, RoutePort: &four, ServiceRoute: v1beta1.RouteDisabled}
	if diff := cmp.Diff(want, stored.Spec.OAuthProxy); diff != "" {
		t.Errorf("without a gateway (-want +got):\n%s", diff)
	}
}
