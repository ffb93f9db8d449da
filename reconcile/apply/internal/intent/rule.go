package intent

import (
	"fmt"
	"slices"
	"strings"

	"github.com/reconcilekit/reconcilekit/reconcile/apply"
	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/applyset"
	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/fieldset"
)

// removable reports whether a field can be planned absent. Identity, ownership and status cannot.
func removable(path fieldset.Path) bool {
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
		return key != "" && key != applyset.PartOfLabel && key != applyset.SharedAnnotation && key != applyset.AfterAnnotation && !strings.HasPrefix(key, apply.GroupAnnotation)
	}
	return true
}

// Rule is a field rule with a parsed path.
type Rule struct {
	Path   fieldset.Path
	Policy apply.FieldPolicy
}

// holdsMarks reports whether the marks of a child of the mode are at the path or below it. A shared object is marked only by an
// annotation.
func holdsMarks(path fieldset.Path, mode apply.Mode) bool {
	steps := slices.Collect(path.Steps())
	switch {
	case mode == apply.Contribute || steps[0] != "metadata":
		return false
	case len(steps) == 1:
		return true
	}
	shared := mode == apply.Shared || mode == apply.Retained
	const names = 2
	switch whole := len(steps) == names; steps[1] {
	case "ownerReferences":
		return !shared
	case "labels":
		return whole && !shared
	case "annotations":
		return whole
	}
	return false
}

func errSentOnce(path fieldset.Path) error {
	return PlanError(fmt.Sprintf("child: field %s cannot be sent only once, as it has what makes the object a child: "+
		"want single labels or annotations", path))
}

func errNotRemovable(path fieldset.Path) error {
	return PlanError(fmt.Sprintf("child: field %s cannot be planned absent: want a label or an annotation that is not the "+
		"engine's, or a field outside of metadata and status", path))
}
