package values

import (
	"context"
	"fmt"
	"reflect"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"

	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/internal/crdschema"
	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/internal/description"
	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/internal/objects"
	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/internal/search"
)

// tries is the maximum number of generated values for one valid value: CEL rules reject some.
const tries = 200

// Of returns n objects of the kind T, named value-1 and so on. Their content, except for metadata and status, is random by the schema of
// their CRD in one of the files, or folders with files, in crdPaths. The first object has only the required fields, the second every
// field. Limits, empty lists and long, unusual texts are more frequent than other values. Defaults are set, and each object is valid by
// the schema and its CEL rules.
//
// The seed is RECONCILETEST_SEED, default 1, and is logged. The test fails if there is no such CRD, or if none of many values is valid,
// with the error of the last one. If fewer than n are valid, Of logs that.
func Of[T client.Object](t testing.TB, scheme *runtime.Scheme, crdPaths []string, n int) []T {
	t.Helper()
	seed, err := search.Seed()
	if err != nil {
		t.Fatal(err)
	}
	empty, ok := reflect.New(reflect.TypeFor[T]().Elem()).Interface().(T)
	if !ok {
		t.Fatalf("values: want a pointer to a Go type for T, got %s", reflect.TypeFor[T]())
	}
	gvk, err := apiutil.GVKForObject(empty, scheme)
	if err != nil {
		t.Fatalf("values: scheme: %v", err)
	}
	props, err := schemaOf(crdPaths, gvk)
	if err != nil {
		t.Fatal(err)
	}
	drawn, err := draw(t.Context(), props, seed, n)
	if len(drawn) == 0 {
		t.Fatalf("values: none of %d values of %s is valid; the last error: %v", n*tries, gvk, err)
	}
	t.Logf("values: %d of %d random objects of %s with the seed %d (%s)", len(drawn), n, gvk, seed, search.EnvSeed)
	out := make([]T, len(drawn))
	for i, content := range drawn {
		content["apiVersion"], content["kind"] = gvk.GroupVersion().String(), gvk.Kind
		content["metadata"] = map[string]any{"name": fmt.Sprintf("value-%d", i+1)}
		object, _ := empty.DeepCopyObject().(T)
		if err := runtime.DefaultUnstructuredConverter.FromUnstructured(content, object); err != nil {
			t.Fatalf("values: %s does not represent what its CRD accepts: %v\n%v", reflect.TypeFor[T](), err, content)
		}
		out[i] = object
	}
	return out
}

// schemaOf returns the schema of a version in the definitions.
func schemaOf(paths []string, gvk schema.GroupVersionKind) (*apiextensionsv1.JSONSchemaProps, error) {
	definitions, err := description.ReadCRDs(paths)
	if err != nil {
		return nil, err
	}
	for _, crd := range definitions {
		if crd.Spec.Group != gvk.Group || crd.Spec.Names.Kind != gvk.Kind {
			continue
		}
		for _, version := range crd.Spec.Versions {
			if version.Name == gvk.Version && version.Schema != nil && version.Schema.OpenAPIV3Schema != nil {
				return version.Schema.OpenAPIV3Schema, nil
			}
		}
	}
	return nil, fmt.Errorf("values: no CRD with a schema of %s in %q", gvk, paths)
}

// draw returns up to n valid contents, without metadata and status, and the error of the last invalid one.
func draw(ctx context.Context, props *apiextensionsv1.JSONSchemaProps, seed uint64, n int) (out []map[string]any, last error) {
	compiled, err := crdschema.New(props)
	if err != nil {
		return nil, err
	}
	root := props.DeepCopy()
	for _, field := range []string{"apiVersion", "kind", "metadata", "status"} {
		delete(root.Properties, field)
	}
	for i := range n {
		for try := range tries {
			g := seeded(seed, uint64(i*tries+try)) //nolint:gosec // not negative
			if try == 0 && i < 2 {
				g.optional = float64(i)
			}
			content, _ := g.object(root, 0).(map[string]any)
			objects.Integers(content)
			compiled.Complete(content)
			errs := compiled.Validate(ctx, content)
			if len(errs) == 0 {
				out = append(out, content)
				break
			}
			last = errs.ToAggregate()
		}
	}
	return out, last
}
