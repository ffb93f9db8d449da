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

// Derivation declares a value that is computed from all objects of a kind, or from a selection of them, such as the GPU
// models of all nodes. [FetchDerived] reads it. A change of the value enqueues the owners that read it; a change of an
// object that leaves the value equal does not. A change of one object costs one call of Each and, when the result of Each
// differs, one call of Merge.
//
// Declare a Derivation once, as a package variable: two Derivations are two values. Each and Merge must be pure functions,
// and their results must not be changed. For an object that does not contribute, Each returns a V that Merge ignores.
type Derivation[O client.Object, V any] struct {
	// Name describes the value in errors and explanations. Required.
	Name string
	// List is an empty list of the kind. Its kind must be set when the scheme cannot derive it from the Go type. Required.
	// Declare the kind with Reads, and the Derivation with the option controller.Derives.
	List client.ObjectList
	// Each returns the contribution of one object. It is called once for each object, and again when that object changes.
	// Required.
	Each func(object O) V
	// Merge combines the contributions, which are sorted by namespace and name, into the value. Required.
	Merge func(parts []V) V
	// MaxBytes limits the memory for the contributions of one selection. Above the limit the value is the same, but each
	// event of the kind reads all objects. Default 16 MiB.
	MaxBytes int
}

const defaultDerivedBytes = 16 << 20

// FetchDerived reads the value of a derivation. The options select objects by namespace and labels; other options are an
// error. Without options all objects contribute. Owners with the same selection share the value. A reader without stored
// values lists the objects and computes the value.
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

// declared is a derivation of a selection, without its types. Two are equal when they have the same Derivation and
// selection.
type declared[O client.Object, V any] struct {
	of                 *Derivation[O, V]
	namespace, matches string
	none               bool // the selector matches no labels; its text is that of a selector that matches everything
}

var errSelection = errors.New("a derived value is of a namespace and labels: want client.InNamespace, client.MatchingLabels and the like alone")

// choose reads the selection from list options.
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
	if err != nil { // a printed selector can always be parsed
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
	return d.of.Each(object.(O)) //nolint:forcetypeassert // check has verified both types
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

// check reports missing or inconsistent fields of the Derivation.
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
