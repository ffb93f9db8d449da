package conditionlist

import (
	"reflect"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Adapter is the interface of a reconciler whose owner has conditions of another type, see reconcile.ConditionAdapter.
type Adapter[T client.Object] interface {
	GetConditions(owner T) []metav1.Condition
	SetConditions(owner T, conditions []metav1.Condition)
}

// Access reads and writes the conditions of the owners of one controller. The zero value uses [Get] and [Set].
type Access struct {
	get func(client.Object) []metav1.Condition
	set func(client.Object, []metav1.Condition)
}

// Of returns the access to the conditions of owners of type T: that of the reconciler if it is an [Adapter].
func Of[T client.Object](reconciler any) Access {
	adapter, ok := reconciler.(Adapter[T])
	if !ok {
		return Access{}
	}
	return Access{
		get: func(object client.Object) []metav1.Condition {
			if owner, ok := object.(T); ok {
				return adapter.GetConditions(owner)
			}
			return nil
		},
		set: func(object client.Object, list []metav1.Condition) {
			if owner, ok := object.(T); ok {
				adapter.SetConditions(owner, list)
			}
		},
	}
}

// Get returns the conditions of an owner, nil for none. The caller must not modify them.
func (a Access) Get(owner client.Object) []metav1.Condition {
	if a.get != nil {
		return a.get(owner)
	}
	return Get(owner)
}

// Set replaces the conditions of an owner.
func (a Access) Set(owner client.Object, list []metav1.Condition) {
	if a.set != nil {
		a.set(owner, list)
		return
	}
	if field := field(owner); field.IsValid() {
		if plain, ok := field.Addr().Interface().(*[]metav1.Condition); ok {
			*plain = list
			return
		}
		field.Set(reflect.ValueOf(list).Convert(field.Type()))
	} else if u, ok := owner.(runtime.Unstructured); ok {
		setUnstructured(u, list)
	}
}

// Get returns the conditions in the field Status.Conditions of an object, or in status.conditions of an unstructured one; nil if it has
// none, or they have another type.
func Get(object client.Object) []metav1.Condition {
	if u, ok := object.(runtime.Unstructured); ok {
		return getUnstructured(u)
	}
	if field := field(object); field.IsValid() {
		if plain, ok := field.Addr().Interface().(*[]metav1.Condition); ok { // without an allocation
			return *plain
		}
		list, _ := field.Convert(reflect.TypeFor[[]metav1.Condition]()).Interface().([]metav1.Condition)
		return list
	}
	return nil
}

// field returns the field Status.Conditions, invalid if there is none.
func field(object client.Object) reflect.Value {
	v := reflect.ValueOf(object)
	for _, name := range []string{"Status", "Conditions"} {
		if v.Kind() == reflect.Pointer {
			v = v.Elem() // Elem of nil is invalid
		}
		if v.Kind() != reflect.Struct {
			return reflect.Value{}
		}
		v = v.FieldByName(name)
	}
	if !v.IsValid() || !v.CanSet() || !v.Type().ConvertibleTo(reflect.TypeFor[[]metav1.Condition]()) {
		return reflect.Value{}
	}
	return v
}
