package since

import (
	"reflect"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// isNil reports whether there is no object: the value of a failed [reconcile.Fetch] is an interface that contains a nil pointer.
func isNil(object metav1.Object) bool {
	if object == nil {
		return true
	}
	value := reflect.ValueOf(object)
	return value.Kind() == reflect.Pointer && value.IsNil()
}
