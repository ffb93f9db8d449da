package derived_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/reconcilekit/reconcilekit/reconcile/internal/derived"
)

// world is a fake reader that counts its calls.
type world struct {
	objects           map[types.NamespacedName]*corev1.ConfigMap
	lists, gets, each int
	broken            error
	panics            bool
}

func newWorld() *world { return &world{objects: map[types.NamespacedName]*corev1.ConfigMap{}} }

func (w *world) set(name types.NamespacedName, colours string) {
	w.objects[name] = &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{Namespace: name.Namespace, Name: name.Name}, Data: map[string]string{"colours": colours},
	}
}

// value derives the sorted colours of all objects without duplicates.
func (w *world) value(limit int) *derived.Value {
	return derived.New(derived.Source{
		MaxBytes: limit,
		List: func(context.Context) ([]client.Object, error) {
			w.lists++
			var out []client.Object
			for _, o := range w.objects {
				out = append(out, o)
			}
			return out, w.broken
		},
		Get: func(_ context.Context, name types.NamespacedName) (client.Object, error) {
			w.gets++
			if o := w.objects[name]; o != nil {
				return o, w.broken
			}
			return nil, w.broken
		},
		Each: func(o client.Object) any {
			w.each++
			if w.panics {
				panic("a mistake")
			}
			return strings.Fields(o.(*corev1.ConfigMap).Data["colours"])
		},
		Merge: func(parts []any) any {
			out := []string{}
			for _, part := range parts {
				out = append(out, part.([]string)...)
			}
			slices.Sort(out)
			return slices.Compact(out)
		},
	})
}

func key(name string) types.NamespacedName { return types.NamespacedName{Namespace: "ns", Name: name} }

func get(t *testing.T, v *derived.Value) any {
	t.Helper()
	got, err := v.Get(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return got
}

const large = 1 << 20

func TestCost(t *testing.T) {
	t.Parallel()
	w := newWorld()
	for _, name := range []string{"a", "b", "c", "d"} {
		w.set(key(name), "red blue")
	}
	v := w.value(large)
	if v.Update(t.Context(), key("a")) || w.gets > 0 {
		t.Error("a value that nobody has asked for was computed")
	}
	get(t, v)
	get(t, v)
	if w.lists != 1 || w.each != 4 {
		t.Errorf("%d lists and %d calls of Each, want 1 and 4", w.lists, w.each)
	}
	w.set(key("b"), "blue red")
	if v.Update(t.Context(), key("b")) {
		t.Error("an object that gives the same is news")
	}
	if w.lists != 1 || w.each != 5 {
		t.Errorf("a change has cost %d lists and %d calls of Each, want none and 1", w.lists-1, w.each-4)
	}
	w.set(key("b"), "green")
	if !v.Update(t.Context(), key("b")) {
		t.Error("another value is no news")
	}
	if diff := cmp.Diff([]string{"blue", "green", "red"}, get(t, v)); diff != "" {
		t.Errorf("value (-want +got):\n%s", diff)
	}
}

// TestSearch compares a value with a recomputed one after each of many random changes. Some changes cause several
// events, some cause no event for their object.
func TestSearch(t *testing.T) {
	t.Parallel()
	seed := uint64(time.Now().UnixNano())
	random := rand.New(rand.NewPCG(seed, 0))
	for _, limit := range []int{large, 60, 1} {
		w := newWorld()
		v := w.value(limit)
		last := get(t, v)
		for range 2000 {
			name := key(string(rune('a' + random.IntN(5))))
			if random.IntN(4) == 0 {
				delete(w.objects, name)
			} else {
				w.set(name, []string{"", "red", "red blue", "blue red", "green"}[random.IntN(5)])
			}
			changed := v.Update(t.Context(), name)
			changed = v.Update(t.Context(), name) || changed // an event can be repeated
			want := get(t, w.value(large))
			if diff := cmp.Diff(want, get(t, v)); diff != "" {
				t.Fatalf("seed %d, limit %d: value (-computed anew +kept):\n%s", seed, limit, diff)
			}
			if changed != !cmp.Equal(last, want) {
				t.Fatalf("seed %d, limit %d: from %v to %v: changed is %t", seed, limit, last, want, changed)
			}
			last = want
		}
	}
}

// TestTrouble checks that a failure in an event counts as a change, and is the error of the next read.
func TestTrouble(t *testing.T) {
	t.Parallel()
	for name, breaks := range map[string]func(*world){
		"Read":  func(w *world) { w.broken = errors.New("no connection") },
		"Panic": func(w *world) { w.panics = true },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld()
			w.set(key("a"), "red")
			v := w.value(large)
			get(t, v)
			breaks(w)
			w.set(key("a"), "blue")
			if !v.Update(t.Context(), key("a")) {
				t.Error("nobody would learn of it")
			}
			w.panics = false
			if _, err := v.Get(t.Context()); !errors.Is(err, w.broken) {
				t.Errorf("got %v, want %v", err, w.broken)
			}
			w.broken = nil
			if diff := cmp.Diff([]string{"blue"}, get(t, v)); diff != "" {
				t.Errorf("value (-want +got):\n%s", diff)
			}
		})
	}
}

func TestChangedByAReader(t *testing.T) {
	t.Parallel()
	w := newWorld()
	w.set(key("a"), "red")
	v := w.value(large)
	get(t, v).([]string)[0] = "stained"
	if diff := cmp.Diff([]string{"red"}, get(t, v)); diff != "" {
		t.Errorf("a reader has changed the value of the others (-want +got):\n%s", diff)
	}
}
