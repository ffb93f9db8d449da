package derived

import (
	"fmt"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Items returns the objects of a list. A list whose items have no metadata is an error.
func Items(list client.ObjectList) ([]client.Object, error) {
	objects := make([]client.Object, 0, meta.LenList(list))
	err := meta.EachListItem(list, func(item runtime.Object) error {
		object, ok := item.(client.Object)
		if !ok {
			return fmt.Errorf("%T has items without metadata", list)
		}
		objects = append(objects, object)
		return nil
	})
	return objects, err
}
