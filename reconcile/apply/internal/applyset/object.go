package applyset

import (
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
)

// ObjectID identifies an object independent of the API version.
type ObjectID struct {
	GroupKind schema.GroupKind
	Key       types.NamespacedName
}

// String formats the object for messages.
func (id ObjectID) String() string {
	return ObjectName(id.GroupKind.Kind, id.Key.Namespace, id.Key.Name)
}

// ObjectName formats an object for messages: its kind, and its namespace and name.
func ObjectName(kind, namespace, name string) string {
	if namespace == "" {
		return kind + " " + name
	}
	return kind + " " + namespace + "/" + name
}
