package description

import (
	"reflect"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"

	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/internal/objects"
)

// Invariant must be true for every version of an object that the operator stores. [Always] and [Never] return one.
type Invariant struct {
	text   string
	broken func(scheme *runtime.Scheme, gvk schema.GroupVersionKind, u *unstructured.Unstructured) bool
}

// Always returns an invariant of one kind, the type of the function's argument: each stored version of it satisfies the function.
// Findings print the text, for example "a Deployment has at least one replica".
func Always[T client.Object](text string, right func(object T) bool) Invariant {
	return Invariant{text: text, broken: func(scheme *runtime.Scheme, gvk schema.GroupVersionKind, u *unstructured.Unstructured) bool {
		kind := reflect.TypeFor[T]()
		if kind.Kind() != reflect.Pointer {
			return false
		}
		object, ok := reflect.New(kind.Elem()).Interface().(T)
		if !ok {
			return false
		}
		if of, err := apiutil.GVKForObject(object, scheme); err != nil || of.GroupKind() != gvk.GroupKind() {
			return false
		}
		return objects.FromUnstructured(u, object) == nil && !right(object)
	}}
}

// Never returns an invariant of one kind, the type of the function's argument: no stored version of it satisfies the function.
func Never[T client.Object](text string, wrong func(object T) bool) Invariant {
	invariant := Always(text, func(object T) bool { return !wrong(object) })
	invariant.text = "never: " + text
	return invariant
}

// Breaks reports whether an object violates an invariant, and returns its text.
func Breaks(i Invariant, scheme *runtime.Scheme, gvk schema.GroupVersionKind, u *unstructured.Unstructured) (text string, broken bool) {
	return i.text, i.broken(scheme, gvk, u)
}
