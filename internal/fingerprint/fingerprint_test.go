package fingerprint_test

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"sync"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/reconcilekit/reconcilekit/internal/fingerprint"
)

func of(t *testing.T, value any) fingerprint.Sum {
	t.Helper()
	sum, ok := fingerprint.Of(value)
	if !ok {
		t.Fatalf("%T has no fingerprint", value)
	}
	return sum
}

// TestDifferentValuesDiffer compares pairs of values that a careless encoding would not distinguish.
func TestDifferentValuesDiffer(t *testing.T) {
	t.Parallel()
	type (
		hidden struct{ text, more string }
		keyed  struct{ a, b string }

		unexported struct{ many map[string]string }
	)
	values := []any{
		nil, 0, 1, int64(1), uint8(1), false, true, "", "a", "0", 0.0, 1.0, complex(1, 0), complex(0, 1),
		[]string(nil),
		[]string{},
		[]string{""},
		[]string{"", ""},
		[]string{"ab", "c"},
		[]string{"a", "bc"},
		[]string{"a", "b", "c"},
		[]any{nil},
		[]any{1},
		[]any{"1"},
		[]any{[]any{}},
		[]any{map[string]any{}},
		[][]string{{"a"}, {}},
		[][]string{{}, {"a"}},
		[]byte(nil),
		[]byte{},
		[]byte("a"),
		[1]byte{'a'},
		[2]byte{'a'},
		map[string]string(nil),
		map[string]string{},
		map[string]string{"": ""},
		map[string]string{"a": "b"},
		map[string]string{"b": "a"},
		map[string]string{"a": "b", "c": "d"},
		map[string]string{"a": "d", "c": "b"},
		map[string][]byte{"a": nil},
		map[string][]byte{"a": {}},
		map[string]any{"a": nil},
		map[string]any{"a": 1},
		map[string]any{"a": int64(1)},
		map[string]any{"a": map[string]any{"b": map[string]any{}}},
		map[string]any{"a": map[string]any{}, "b": map[string]any{}},
		map[string]any{"a": nil, "b": map[string]any{}},
		map[corev1.ResourceName]resource.Quantity{"a": resource.MustParse("1")},
		map[corev1.ResourceName]resource.Quantity{"b": resource.MustParse("1")},
		map[corev1.ResourceName]resource.Quantity{"a": resource.MustParse("1"), "b": resource.MustParse("2")},
		map[corev1.ResourceName]resource.Quantity{"a": resource.MustParse("2"), "b": resource.MustParse("1")},
		corev1.ResourceList{},
		unexported{},
		unexported{many: map[string]string{}},
		unexported{many: map[string]string{"a": "b", "c": "d"}},
		unexported{many: map[string]string{"a": "d", "c": "b"}},
		unexported{many: map[string]string{"ab": "", "c": "d"}},
		map[keyed]int{{"a", "b"}: 1},
		map[keyed]int{{"b", "a"}: 1},
		map[any]any{1: 2},
		map[any]any{2: 1},
		map[any]any{"1": 2},
		hidden{"a", "b"},
		hidden{"ab", ""},
		keyed{"a", "b"},
		&hidden{"a", "b"}, (*hidden)(nil), new(*hidden),
		time.Time{},
		time.Unix(1, 0).UTC(), time.Unix(1, 0), time.Unix(1, 1).UTC(),
		resource.MustParse("1"), resource.MustParse("1k"), resource.MustParse("0.5"),
	}
	seen := map[fingerprint.Sum]any{}
	for _, value := range values {
		sum := of(t, value)
		if other, twice := seen[sum]; twice {
			t.Errorf("%#v and %#v have the same fingerprint", value, other)
		}
		seen[sum] = value
	}
}

// TestUnsupportedValues checks that a type whose values cannot be compared by content has no fingerprint.
func TestUnsupportedValues(t *testing.T) {
	t.Parallel()
	type loop struct{ next *loop }
	round := &loop{}
	round.next = round
	berlin := time.FixedZone("here", 3600)
	for _, value := range []any{
		func() {}, make(chan int), &sync.Mutex{},
		struct{ m sync.Once }{},
		round,
		[]any{func() {}},
		map[string]any{"a": func() {}},
		map[any]any{make(chan int): 1},
		time.Unix(1, 0).In(berlin), uintptr(1),
	} {
		if _, ok := fingerprint.Of(value); ok {
			t.Errorf("%T has a fingerprint", value)
		}
	}
}

// TestRandomValues checks random objects: a copy has the same fingerprint, and another object has it exactly if it is
// deeply equal.
func TestRandomValues(t *testing.T) {
	t.Parallel()
	seed := time.Now().UnixNano()
	random := rand.New(rand.NewPCG(uint64(seed), 0))
	for range 200 {
		deployment := &appsv1.Deployment{}
		fill(random, reflect.ValueOf(&deployment.Spec.Template).Elem(), 12)
		copied := deployment.DeepCopy()
		if of(t, deployment) != of(t, copied) {
			t.Fatalf("seed %d: a copy has another fingerprint: %#v", seed, deployment)
		}
		where := change(random, reflect.ValueOf(&copied.Spec.Template.Spec).Elem(), "spec")
		if same := of(t, deployment) == of(t, copied); same != reflect.DeepEqual(deployment, copied) {
			t.Fatalf("seed %d: after a change of %s the same fingerprint: %t", seed, where, same)
		}
	}
}

// fill sets the fields of a value to random values, down to a depth.
func fill(random *rand.Rand, v reflect.Value, depth int) {
	if depth == 0 || !v.CanSet() {
		return
	}
	switch v.Kind() {
	case reflect.Struct:
		for _, field := range v.Fields() {
			fill(random, field, depth-1)
		}
	case reflect.Pointer:
		if random.IntN(2) == 0 {
			v.Set(reflect.New(v.Type().Elem()))
			fill(random, v.Elem(), depth-1)
		}
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), random.IntN(3), 3))
		for i := range v.Len() {
			fill(random, v.Index(i), depth-1)
		}
	case reflect.Map:
		v.Set(reflect.MakeMap(v.Type()))
		key, value := reflect.New(v.Type().Key()).Elem(), reflect.New(v.Type().Elem()).Elem()
		fill(random, key, depth-1)
		fill(random, value, depth-1)
		v.SetMapIndex(key, value)
	case reflect.String:
		v.SetString([]string{"", "a", "b", "ab"}[random.IntN(4)])
	case reflect.Bool:
		v.SetBool(random.IntN(2) == 0)
	case reflect.Int, reflect.Int32, reflect.Int64:
		v.SetInt(random.Int64N(3))
	default:
	}
}

// change changes a random field of a value and returns its path.
func change(random *rand.Rand, v reflect.Value, path string) string {
	switch v.Kind() {
	case reflect.Struct:
		i := random.IntN(v.NumField())
		if !v.Field(i).CanSet() {
			return path
		}
		return change(random, v.Field(i), path+"."+v.Type().Field(i).Name)
	case reflect.Pointer:
		if v.IsNil() {
			v.Set(reflect.New(v.Type().Elem()))
			return path
		}
		return change(random, v.Elem(), path)
	case reflect.Slice:
		if v.Len() == 0 {
			v.Set(reflect.MakeSlice(v.Type(), v.Len()+1, v.Len()+1))
			return path
		}
		i := random.IntN(v.Len())
		return change(random, v.Index(i), fmt.Sprintf("%s[%d]", path, i))
	case reflect.Map:
		v.Set(reflect.MakeMap(v.Type()))
	case reflect.String:
		v.SetString(v.String() + "x")
	case reflect.Bool:
		v.SetBool(!v.Bool())
	case reflect.Int, reflect.Int32, reflect.Int64:
		v.SetInt(v.Int() + 1)
	default:
	}
	return path
}

// TestIsIndependentOfCalls checks that the memory that fingerprints reuse does not carry content from one value to the
// next.
func TestIsIndependentOfCalls(t *testing.T) {
	list := func(names ...corev1.ResourceName) corev1.ResourceList {
		out := corev1.ResourceList{}
		for i, name := range names {
			out[name] = *resource.NewQuantity(int64(i), resource.DecimalSI)
		}
		return out
	}
	small := of(t, list("a", "b"))
	for range 10 {
		_ = of(t, list("x", "y", "z", "a", "b"))
		_, _ = fingerprint.Of(map[string]any{"a": func() {}, "b": map[string]any{"c": func() {}}})
		if of(t, list("a", "b")) != small || of(t, list("b", "a")) == small {
			t.Fatal("the fingerprint depends on the previous call")
		}
	}
}

// TestAllocations limits the allocations of a fingerprint, which every reconciliation computes.
func TestAllocations(t *testing.T) {
	pod := &corev1.Pod{}
	pod.Labels = map[string]string{"a": "b", "c": "d"}
	pod.Spec.Containers = []corev1.Container{{Name: "a", Env: []corev1.EnvVar{{Name: "a", Value: "b"}}}}
	pod.Spec.Containers[0].Resources.Limits = corev1.ResourceList{"cpu": resource.MustParse("1"), "memory": resource.MustParse("1Gi")}
	content := map[string]any{"a": map[string]any{"b": []any{map[string]any{"c": "d"}}}}
	if got := testing.AllocsPerRun(100, func() { _, _ = fingerprint.Of(content) }); got > 8 {
		t.Errorf("%v allocations for decoded JSON", got)
	}
	if got := testing.AllocsPerRun(100, func() { _, _ = fingerprint.Of(pod) }); got > 4 {
		t.Errorf("%v allocations", got)
	}
}

func BenchmarkOf(b *testing.B) {
	deployment := &appsv1.Deployment{}
	fill(rand.New(rand.NewPCG(1, 1)), reflect.ValueOf(&deployment.Spec.Template).Elem(), 8)
	b.ReportAllocs()
	for b.Loop() {
		if _, ok := fingerprint.Of(deployment); !ok {
			b.Fatal("none")
		}
	}
}
