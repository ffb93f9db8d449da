package intent

import (
	"fmt"
	"slices"
	"strings"

	"github.com/reconcilekit/reconcilekit/reconcile/apply"
	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/planerror"
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

// holdsMarks reports whether what makes an object a child is at the path or
// below it.
func holdsMarks(path apply.Path) bool {
	steps := slices.Collect(path.Steps())
	if steps[0] != "metadata" {
		return false
	}
	const below = 2
	return len(steps) < below || steps[1] == "ownerReferences" || (len(steps) == below && (steps[1] == "labels" || steps[1] == "annotations"))
}

func errSentOnce(path apply.Path) error {
	return planerror.Error(fmt.Sprintf("child: field %s cannot be sent only once, as it has what makes the object a child: "+
		"want single labels or annotations", path))
}

func errNotRemovable(path apply.Path) error {
	return planerror.Error(fmt.Sprintf("child: field %s cannot be planned absent: want a label or an annotation that is not the "+
		"engine's, or a field outside of metadata and status", path))
}
