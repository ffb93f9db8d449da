package applyset

import (
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
)

// ObjectID names an object, whatever version it is written in.
type ObjectID struct {
	GroupKind schema.GroupKind
	Key       types.NamespacedName
}

// String renders the object for messages.
func (id ObjectID) String() string {
	return ObjectName(id.GroupKind.Kind, id.Key.Namespace, id.Key.Name)
}

// ObjectName renders an object for messages: its kind, and its namespace and
// name.
func ObjectName(kind, namespace, name string) string {
	if namespace == "" {
		return kind + " " + name
	}
	return kind + " " + namespace + "/" + name
}
