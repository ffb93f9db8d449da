package engine_test

import (
	"encoding/json"
	"maps"
	"reflect"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/reconcilekit/reconcilekit/reconcile/apply"
	"github.com/reconcilekit/reconcilekit/reconcile/apply/engine"
)

// significant removes the values that the rules can omit: nulls and zero values.
func significant(x any) any {
	switch x := x.(type) {
	case map[string]any:
		out := map[string]any{}
		for k, v := range x {
			if v = significant(v); v != nil {
				out[k] = v
			}
		}
		if len(out) == 0 {
			return nil
		}
		return out
	case []any:
		var out []any
		for _, v := range x {
			out = append(out, significant(v))
		}
		if len(out) == 0 {
			return nil
		}
		return out
	case string:
		if x == "" || x == "0" {
			return nil
		}
	case bool:
		if !x {
			return nil
		}
	case int64:
		if x == 0 {
			return nil
		}
	case float64:
		if x == 0 {
			return nil
		}
	}
	return x
}

// FuzzIntent checks that an object of a Go type is encoded like by the standard
// converter, except for the values that the rules omit.
func FuzzIntent(f *testing.F) {
	for _, o := range everydayKinds() {
		data, err := json.Marshal(o)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, o := range []client.Object{&appsv1.StatefulSet{}, &corev1.Secret{}, &networkingv1.NetworkPolicy{}} {
			if json.Unmarshal(data, o) != nil {
				continue
			}
			if s, ok := o.(*corev1.Secret); ok {
				s.StringData = nil
			}
			want, err := runtime.DefaultUnstructuredConverter.ToUnstructured(o)
			if err != nil {
				continue
			}
			got, err := engine.Intent(o)
			if err != nil {
				t.Fatal(err)
			}
			delete(want, "apiVersion")
			delete(want, "kind")
			if m, ok := want["metadata"].(map[string]any); ok {
				maps.DeleteFunc(m, func(k string, _ any) bool {
					return k != "labels" && k != "annotations" && k != "ownerReferences" && k != "finalizers"
				})
			}
			if diff := cmp.Diff(significant(want), significant(got)); diff != "" {
				t.Errorf("%T (-converter +intent):\n%s", o, diff)
			}
		}
	})
}

func TestHash(t *testing.T) {
	t.Parallel()
	h := engine.NewHashes()
	for i, o := range everydayKinds() {
		if got, want := h.Of(everydayKinds()[i]), h.Of(o); got != want {
			t.Errorf("%T: two equal objects have hashes %x and %x", o, got, want)
		}
	}
	differ := map[string]client.Object{
		"nil":            &appsv1.Deployment{},
		"emptyList":      &appsv1.Deployment{Spec: appsv1.DeploymentSpec{Template: corev1.PodTemplateSpec{Spec: corev1.PodSpec{Tolerations: []corev1.Toleration{}}}}},
		"zeroPointer":    &appsv1.Deployment{Spec: appsv1.DeploymentSpec{Replicas: new(int32(0))}},
		"one":            &appsv1.Deployment{Spec: appsv1.DeploymentSpec{Replicas: new(int32(1))}},
		"otherField":     &appsv1.Deployment{Spec: appsv1.DeploymentSpec{RevisionHistoryLimit: new(int32(1))}},
		"labels":         &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{"a": "b"}}},
		"swapped":        &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{"b": "a"}}},
		"annotations":    &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Annotations: map[string]string{"a": "b"}}},
		"unstructured":   &unstructured.Unstructured{Object: map[string]any{"a": "b"}},
		"list":           &unstructured.Unstructured{Object: map[string]any{"a": []any{"b"}}},
		"nested":         &unstructured.Unstructured{Object: map[string]any{"a": []any{[]any{"b"}}}},
		"number":         &unstructured.Unstructured{Object: map[string]any{"a": int64(1)}},
		"fraction":       &unstructured.Unstructured{Object: map[string]any{"a": 1.5}},
		"text":           &unstructured.Unstructured{Object: map[string]any{"a": "1"}},
		"true":           &unstructured.Unstructured{Object: map[string]any{"a": true}},
		"false":          &unstructured.Unstructured{Object: map[string]any{"a": false}},
		"cpu":            withCPU("1"),
		"millicpu":       withCPU("500m"),
		"anotherPattern": withCPU("2"),
	}
	seen := map[uint64]string{}
	for name, o := range differ {
		if other, ok := seen[h.Of(o)]; ok {
			t.Errorf("%s and %s have the same hash", name, other)
		}
		seen[h.Of(o)] = name
	}
}

// TestHashOfOptions sets every field of a child. Each field affects the apply,
// so each must change the hash.
func TestHashOfOptions(t *testing.T) {
	t.Parallel()
	h := engine.NewHashes()
	object := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "x"}}
	plain := h.OfChild(&apply.Child{Object: object})
	child := reflect.TypeFor[apply.Child]()
	for i := range child.NumField() {
		switch child.Field(i).Name {
		case "WaitsUntil", "Announcement":
			continue // affects the time of the apply or the report, but not the content
		case "After":
			continue // the engine adds the part of it that it records on the child, see TestDecide
		}
		c := &apply.Child{Object: object}
		f := reflect.ValueOf(c).Elem().Field(i)
		switch f.Kind() {
		case reflect.Bool:
			f.SetBool(true)
		case reflect.Int:
			f.SetInt(1)
		case reflect.Uint8:
			f.SetUint(1)
		case reflect.String:
			f.SetString("x")
		case reflect.Slice:
			f.Set(reflect.MakeSlice(f.Type(), 1, 1))
		case reflect.Interface:
			continue // the object, or its apply configuration
		default:
			t.Fatalf("%s: the test cannot set a %s", child.Field(i).Name, f.Kind())
		}
		if h.OfChild(c) == plain {
			t.Errorf("%s does not change the hash", child.Field(i).Name)
		}
	}
	rules := [][]apply.FieldRule{
		{{Path: "a", Policy: apply.FieldSeed}},
		{{Path: "a", Policy: apply.FieldForce}},
		{{Path: "b", Policy: apply.FieldSeed}},
		{{Path: "a", Policy: apply.FieldSeed}, {Path: "b", Policy: apply.FieldSeed}},
	}
	seen := map[uint64]int{}
	for i, fields := range rules {
		sum := h.OfChild(&apply.Child{Object: object, Fields: fields})
		if other, known := seen[sum]; known {
			t.Errorf("rules %v and %v have one hash", rules[other], fields)
		}
		seen[sum] = i
	}
}

func withCPU(q string) client.Object {
	return &corev1.Pod{Spec: corev1.PodSpec{Overhead: corev1.ResourceList{"cpu": resource.MustParse(q)}}}
}

func BenchmarkHash(b *testing.B) {
	h := engine.NewHashes()
	o := deployment("x")
	b.ReportAllocs()
	for b.Loop() {
		h.Of(o)
	}
}

func BenchmarkIntent(b *testing.B) {
	o := deployment("x")
	b.ReportAllocs()
	for b.Loop() {
		if _, err := engine.Intent(o); err != nil {
			b.Fatal(err)
		}
	}
}
