package intent

import (
	"slices"
	"strings"

	"github.com/reconcilekit/reconcilekit/reconcile/apply"
)

// Removable reports whether a field can be planned absent: not what makes the
// object what it is, or whose it is, and not its status.
func Removable(path apply.Path) bool {
	const name = 2
	steps := slices.Collect(path.Steps())
	switch steps[0] {
	case "apiVersion", "kind", "status":
		return false
	case "metadata":
		if len(steps) != name+1 || (steps[1] != "labels" && steps[1] != "annotations") {
			return false
		}
		key := steps[name]
		return key != "" && key != apply.PartOfLabel && key != apply.SharedAnnotation && !strings.HasPrefix(key, apply.GroupAnnotation)
	}
	return true
}

// Rule is a field rule with its path parsed.
type Rule struct {
	Path   apply.Path
	Policy apply.FieldPolicy
}
