package lint

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const purityRuns = 16 // 16 iterations over a map with two keys have the same order in one test of 32768

// Purity checks that a function is pure, as the plan of a reconciler must be: the same input always gives the same result, independent of
// the order of unordered lists, and the function does not modify its input. Each run gets a deep copy of the input: maps are rebuilt, and
// the lists in [Shuffle], with paths as printed by a failure (such as "Items"), are reordered. cmp compares the results, often those of
// PlanResult.Set; pass options for fields that cmp cannot examine.
//
//	lint.Purity(t, observation, func(o Observation) any { plan := r.PlanResources(ctx, rc, o); return plan })
//
// Copies are made by reflection. Unexported fields are shared.
func Purity[I any](t testing.TB, input I, run func(I) any, opts ...PurityOption) {
	t.Helper()
	var o purity
	for _, option := range opts {
		option.applyToPurity(&o)
	}
	draw := rand.New(rand.NewPCG(1, 2))
	var first any
	for n := range purityRuns {
		given := copied(&o, input, draw, n > 0)
		kept := copied(&o, given, draw, false)
		result := run(given)
		if diff := cmp.Diff(kept, given, o.compare...); diff != "" {
			t.Errorf("the function changed its input (-before +after):\n%s", diff)
			return
		}
		if n == 0 {
			first = result
			continue
		}
		if diff := cmp.Diff(first, result, o.compare...); diff != "" {
			t.Errorf("run %d on the same input, its maps rebuilt%s, returns another result (-first +this):\n%s",
				n+1, o.shuffledLists(), diff)
			return
		}
	}
}

// PurityOption configures [Purity]: [Shuffle] and [CompareWith].
type PurityOption interface{ applyToPurity(o *purity) }

type purity struct {
	lists   map[string]bool
	compare []cmp.Option
}

// Shuffle lists the paths of unordered lists, starting at the input: fields joined by dots, without indexes of lists and keys of maps,
// for example "Pods.Value.Items".
type Shuffle []string

func (s Shuffle) applyToPurity(o *purity) {
	if o.lists == nil {
		o.lists = map[string]bool{}
	}
	for _, path := range s {
		o.lists[path] = true
	}
}

// CompareWith are options for cmp.
type CompareWith []cmp.Option

func (c CompareWith) applyToPurity(o *purity) { o.compare = append(o.compare, c...) }

func (o *purity) shuffledLists() string {
	if len(o.lists) == 0 {
		return ""
	}
	return fmt.Sprintf(" and %d of its lists in another order", len(o.lists))
}

// copied returns a deep copy whose unordered lists are shuffled.
func copied[I any](o *purity, input I, draw *rand.Rand, shuffle bool) I {
	c := copier{lists: o.lists, draw: draw, shuffle: shuffle}
	out := reflect.New(reflect.TypeFor[I]()).Elem()
	c.copy(out, reflect.ValueOf(&input).Elem(), "")
	return out.Interface().(I) //nolint:forcetypeassert // it was made as one
}

// copier copies values without a DeepCopy method by reflection.
type copier struct {
	lists   map[string]bool
	draw    *rand.Rand
	shuffle bool
}

func (c *copier) copy(to, from reflect.Value, path string) {
	switch from.Kind() {
	case reflect.Pointer:
		if from.IsNil() {
			return
		}
		to.Set(reflect.New(from.Type().Elem()))
		c.copy(to.Elem(), from.Elem(), path)
	case reflect.Interface:
		if from.IsNil() {
			return
		}
		inner := reflect.New(from.Elem().Type()).Elem()
		c.copy(inner, from.Elem(), path)
		to.Set(inner)
	case reflect.Struct:
		to.Set(from) // unexported fields are shared
		for n := range from.NumField() {
			field := from.Type().Field(n)
			if !field.IsExported() {
				continue
			}
			to.Field(n).SetZero()
			c.copy(to.Field(n), from.Field(n), join(path, field))
		}
	case reflect.Slice:
		c.slice(to, from, path)
	case reflect.Array:
		for n := range from.Len() {
			c.copy(to.Index(n), from.Index(n), path)
		}
	case reflect.Map:
		if from.IsNil() {
			return
		}
		to.Set(reflect.MakeMapWithSize(from.Type(), from.Len()))
		for _, key := range from.MapKeys() {
			value := reflect.New(from.Type().Elem()).Elem()
			c.copy(value, from.MapIndex(key), path)
			to.SetMapIndex(key, value)
		}
	default:
		to.Set(from)
	}
}

func (c *copier) slice(to, from reflect.Value, path string) {
	if from.IsNil() {
		return
	}
	to.Set(reflect.MakeSlice(from.Type(), from.Len(), from.Len()))
	order := make([]int, from.Len())
	for n := range order {
		order[n] = n
	}
	if c.shuffle && c.lists[path] {
		c.draw.Shuffle(len(order), func(i, j int) { order[i], order[j] = order[j], order[i] })
	}
	for n, m := range order {
		c.copy(to.Index(n), from.Index(m), path)
	}
}

// join appends a field to a path; embedded structs add nothing.
func join(path string, field reflect.StructField) string {
	switch {
	case field.Anonymous:
		return path
	case path == "":
		return field.Name
	}
	return path + "." + field.Name
}
