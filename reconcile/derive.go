package reconcile

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"sigs.k8s.io/controller-runtime/pkg/client"

	sharedvalue "github.com/reconcilekit/reconcilekit/reconcile/internal/derived"
)

// Derivation declares a value that is computed from all objects of a kind, such as the GPU models of all nodes. It is read by
// [FetchDerived]: owners that read it are woken when the value changes, not when one of the objects does.
//
// Declare it once, as a package variable: two derivations are two values. Both functions are pure, and what they return must
// not be changed. An object that does not matter gives a V that Merge passes over.
type Derivation[O client.Object, V any] struct {
	// Name describes the value to people: it is in errors and explanations. Required.
	Name string
	// List is an empty list of the kind, with the kind set where the Go type does not tell it. Required. The kind is declared
	// with Reads like that of any other read.
	List client.ObjectList
	// Each returns what one object gives. Required. It is called once for each object, and again when that object changes.
	Each func(object O) V
	// Merge returns the value that the objects give together, in the order of namespace and name. Required.
	Merge func(parts []V) V
	// MaxBytes is how much is remembered of what the objects give. With more the value is the same, but each event of the kind
	// reads all objects. Zero is 16 MiB.
	MaxBytes int
}

const defaultDerivedBytes = 16 << 20

// FetchDerived reads the value of a derivation. A reader that remembers no values lists the objects and computes it.
func FetchDerived[O client.Object, V any](ctx context.Context, r Reader, d *Derivation[O, V]) FetchResult[V] {
	of := derived[O, V]{d}
	if err := of.check(); err != nil {
		return FetchResult[V]{Error: fmt.Errorf("derive %q: %w", d.Name, err)}
	}
	value, err := derivingReader(r).Derived(ctx, of)
	if err != nil {
		return FetchResult[V]{Error: fmt.Errorf("derive %q: %w", d.Name, err)}
	}
	typed, _ := value.(V) // an interface V may be nil
	return FetchResult[V]{Value: typed}
}

// DerivingReader is implemented by readers that remember derived values. The package reconcile/controller has one.
type DerivingReader interface {
	Reader
	// Derived returns the value of a derivation, which must not be changed.
	Derived(ctx context.Context, d Derived) (any, error)
}

// Derived is a [Derivation] without its types, for those who implement [DerivingReader]. Equal ones are the same derivation.
type Derived interface { //nolint:interfacebloat // what a Derivation has
	// String is the name of the value.
	String() string
	// NewList returns an empty list of the kind, and NewObject an empty object.
	NewList() client.ObjectList
	NewObject() client.Object
	// Each and Merge are the functions of the derivation.
	Each(object client.Object) any
	Merge(parts []any) any
	// Limit is how many bytes may be remembered of what the objects give.
	Limit() int
}

// derived is a derivation without its types. Two are equal when they are of one derivation.
type derived[O client.Object, V any] struct{ of *Derivation[O, V] }

func (d derived[O, V]) String() string { return d.of.Name }

func (d derived[O, V]) NewList() client.ObjectList {
	return d.of.List.DeepCopyObject().(client.ObjectList) //nolint:forcetypeassert // a deep copy has the type of its original
}

func (d derived[O, V]) NewObject() client.Object {
	object := reflect.New(reflect.TypeFor[O]().Elem()).Interface().(client.Object) //nolint:forcetypeassert // O is a pointer to a struct
	gvk := d.of.List.GetObjectKind().GroupVersionKind()
	gvk.Kind = strings.TrimSuffix(gvk.Kind, "List")
	object.GetObjectKind().SetGroupVersionKind(gvk)
	return object
}

func (d derived[O, V]) Each(object client.Object) any {
	return d.of.Each(object.(O)) //nolint:forcetypeassert // check has looked at both
}

func (d derived[O, V]) Merge(parts []any) any {
	typed := make([]V, len(parts))
	for i := range parts {
		typed[i], _ = parts[i].(V)
	}
	return d.of.Merge(typed)
}

func (d derived[O, V]) Limit() int {
	if d.of.MaxBytes > 0 {
		return d.of.MaxBytes
	}
	return defaultDerivedBytes
}

// check reports what is missing in a declaration.
func (d derived[O, V]) check() error {
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

// derivingReader is the reader, or one that computes values anew where it remembers none.
func derivingReader(r Reader) DerivingReader {
	if deriving, ok := r.(DerivingReader); ok {
		return deriving
	}
	return listing{r}
}

// listing computes values anew.
type listing struct{ Reader }

func (r listing) Derived(ctx context.Context, d Derived) (any, error) {
	list := d.NewList()
	if err := r.List(ctx, list); err != nil {
		return nil, err
	}
	objects, err := sharedvalue.Items(list)
	if err != nil {
		return nil, err
	}
	slices.SortFunc(objects, func(a, b client.Object) int {
		return cmp.Or(strings.Compare(a.GetNamespace(), b.GetNamespace()), strings.Compare(a.GetName(), b.GetName()))
	})
	parts := make([]any, len(objects))
	for i := range objects {
		parts[i] = d.Each(objects[i])
	}
	return d.Merge(parts), nil
}

// Derived notes a value that could not be had like any other read.
func (r *notingReader) Derived(ctx context.Context, d Derived) (any, error) {
	value, err := derivingReader(r.Reader).Derived(ctx, d)
	return value, r.note(err)
}
