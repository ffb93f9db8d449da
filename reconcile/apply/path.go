package apply

import (
	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/managedfields"
)

// Path names a field: names separated by dots; a name with other characters
// than letters, digits, dash and underscore in brackets and quotes; an item of
// a list with keys by its keys in brackets.
//
//	spec.replicas
//	metadata.annotations["example.com/class"]
//	spec.template.spec.containers[name=main].image
//	spec.ports[port=80,protocol=TCP].nodePort
type Path = managedfields.Path

// ParsePath parses a path. A leading dot is allowed. The error names the path
// and the place.
func ParsePath(text string) (Path, error) { return managedfields.ParsePath(text) }
