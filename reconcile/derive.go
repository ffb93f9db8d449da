package reconcile

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"strings"

	"k8s.io/apimachinery/pkg/labels"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/reconcilekit/reconcilekit/reconcile/internal/derived"
)

// Derivation declares a value that is computed from all objects of a kind, such as the GPU models of all nodes, or from those of a selection. It is
// read by [FetchDerived]: owners that read it are woken when the value changes, not when one of the objects does. A change of one object costs
// one call of Each and, when that gives something else, one of Merge.
//
// Declare it once, as a package variable: two derivations are two values. Both functions are pure, and what they return must
// not be changed. An object that does not matter gives a V that Merge passes over.
type Derivation[O client.Object, V any] struct {
	// Name describes the value to people: it is in errors and explanations. Required.
	Name string
	// List is an empty list of the kind, with the kind set where the Go type does not tell it. Required. The kind is declared
	// with Reads like that of any other read, and the Derivation beside it, with controller.Derives.
	List client.ObjectList
	// Each returns what one object gives. Required. It is called once for each object, and again when that object changes.
	Each func(object O) V
	// Merge returns the value that the objects give together, in the order of namespace and name. Required.
	Merge func(parts []V) V
	// MaxBytes is how much is remembered of what the objects of a selection give. With more the value is the same, but each event of the kind
	// reads all objects. Zero is 16 MiB.
	MaxBytes int
}

const defaultDerivedBytes = 16 << 20

// FetchDerived reads the value of a derivation, from the objects that the options select: by namespace and labels, all without options. Owners that ask
// for the same selection share its value. A reader that remembers no values lists the objects and computes it.
func FetchDerived[O client.Object, V any](ctx context.Context, r Reader, d *Derivation[O, V], opts ...client.ListOption) FetchResult[V] {
	of := declared[O, V]{of: d}
	err := of.check()
	if err == nil {
		err = of.choose(opts)
	}
	if err != nil {
		return FetchResult[V]{Error: fmt.Errorf("derive %q: %w", d.Name, err)}
	}
	value, err := derived.Through(r).Derived(ctx, of)
	if err != nil {
		return FetchResult[V]{Error: fmt.Errorf("derive %q: %w", d.Name, err)}
	}
	typed, _ := value.(V) // an interface V may be nil
	return FetchResult[V]{Value: typed}
}

// declared is a derivation of a selection without its types. Two are equal when they are of one derivation and select the same.
type declared[O client.Object, V any] struct {
	of                 *Derivation[O, V]
	namespace, matches string
	none               bool // no labels match, which has the same text as that all do
}

var errSelection = errors.New("a derived value is of a namespace and labels: want client.InNamespace, client.MatchingLabels and the like alone")

// choose takes the selection from the options of a list.
func (d *declared[O, V]) choose(opts []client.ListOption) error {
	var options client.ListOptions
	options.ApplyOptions(opts)
	d.namespace, options.Namespace = options.Namespace, ""
	if matching := options.LabelSelector; matching != nil {
		_, selectable := matching.Requirements()
		d.matches, d.none, options.LabelSelector = matching.String(), !selectable, nil
	}
	if options != (client.ListOptions{}) {
		return errSelection
	}
	return nil
}

func (d declared[O, V]) Of() any { return d.of }

func (d declared[O, V]) Selection() (namespace string, matching labels.Selector) {
	if d.none {
		return d.namespace, labels.Nothing()
	}
	if d.matches == "" {
		return d.namespace, nil
	}
	matching, err := labels.Parse(d.matches)
	if err != nil { // a selector is printed as it is parsed
		return d.namespace, labels.Nothing()
	}
	return d.namespace, matching
}

func (d declared[O, V]) String() string { return d.of.Name }

func (d declared[O, V]) NewList() client.ObjectList {
	return d.of.List.DeepCopyObject().(client.ObjectList) //nolint:forcetypeassert // a deep copy has the type of its original
}

func (d declared[O, V]) NewObject() client.Object {
	object := reflect.New(reflect.TypeFor[O]().Elem()).Interface().(client.Object) //nolint:forcetypeassert // O is a pointer to a struct
	gvk := d.of.List.GetObjectKind().GroupVersionKind()
	gvk.Kind = strings.TrimSuffix(gvk.Kind, "List")
	object.GetObjectKind().SetGroupVersionKind(gvk)
	return object
}

func (d declared[O, V]) Each(object client.Object) any {
	return d.of.Each(object.(O)) //nolint:forcetypeassert // check has looked at both
}

func (d declared[O, V]) Merge(parts []any) any {
	typed := make([]V, len(parts))
	for i := range parts {
		typed[i], _ = parts[i].(V)
	}
	return d.of.Merge(typed)
}

func (d declared[O, V]) Limit() int {
	if d.of.MaxBytes > 0 {
		return d.of.MaxBytes
	}
	return defaultDerivedBytes
}

// check reports what is missing in a declaration.
func (d declared[O, V]) check() error {
	of := d.of
	if of.List == nil || of.Each == nil || of.Merge == nil {
		return errors.New("a Derivation needs List, Each and Merge")
	}
	if reflect.TypeFor[O]().Kind() != reflect.Pointer {
		return fmt.Errorf("a Derivation of %s: want a pointer to the Go type of an object", reflect.TypeFor[O]())
	}
	items := reflect.Indirect(reflect.ValueOf(of.List)).FieldByName("Items")
	if items.Kind() != reflect.Slice || items.Type().Elem() != reflect.TypeFor[O]().Elem() {
		return fmt.Errorf("a Derivation of %s: %T is no list of them", reflect.TypeFor[O](), of.List)
	}
	return nil
}
