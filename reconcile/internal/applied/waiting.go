package applied

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/reconcilekit/reconcilekit/conditions"
	"github.com/reconcilekit/reconcilekit/health"
	"github.com/reconcilekit/reconcilekit/reconcile/apply"
)

// ObservedWithin is when a pass looks again at a child whose controller had not looked at a change of the pass before. Its status
// brings a pass sooner, if the child is watched with it.
const ObservedWithin = 10 * time.Second

// Waiting is a part without a name for what the plan holds back, and for children that this pass has changed and whose own status is
// still about what they were before: as long as there is any, the owner is not Ready, whatever its components report, because what
// they report was read before. With none it is a part that does not apply. See kstatus on observedGeneration.
func Waiting(result *apply.Result) health.Component {
	if parts := terminating(result); len(parts) > 0 {
		return health.Component{
			State: health.Progressing, Reason: string(apply.ReasonNamespaceTerminating), Message: conditions.Bound(strings.Join(parts, "; ")), Immediate: true,
		}
	}
	reason, parts := apply.ReasonWaiting, listed(result, func(o *apply.ObjectResult) string {
		if o.WaitsUntil == "" {
			return ""
		}
		return " waits until " + o.WaitsUntil
	})
	if len(parts) == 0 {
		reason, parts = apply.ReasonUnobserved, listed(result, func(o *apply.ObjectResult) string {
			switch {
			case !o.Unobserved:
				return ""
			case o.Outcome == apply.OutcomeDeleted:
				return " was deleted, to be created anew"
			}
			return " was changed, and its status is not about the change yet"
		})
	}
	if len(parts) == 0 {
		return health.Component{}
	}
	return health.Component{
		State: health.Progressing, Reason: string(reason), Message: conditions.Bound(strings.Join(parts, "; ")), Immediate: true,
	}
}

// terminating has a sentence for each namespace in which nothing can be created, as it is being deleted.
func terminating(result *apply.Result) (parts []string) {
	for i := range result.Objects {
		if o := &result.Objects[i]; o.Reason == apply.ReasonNamespaceTerminating && len(parts) < MaxLogged {
			text := fmt.Sprintf("namespace %s is being deleted, and nothing can be created in it", o.Key.Namespace)
			if !slices.Contains(parts, text) {
				parts = append(parts, text)
			}
		}
	}
	return parts
}

// listed are the first objects of which there is something to say.
func listed(result *apply.Result, say func(o *apply.ObjectResult) string) (parts []string) {
	for i := range result.Objects {
		o := &result.Objects[i]
		if text := say(o); text != "" && len(parts) < MaxLogged {
			parts = append(parts, fmt.Sprintf("%s %s%s", o.GVK.Kind, strings.TrimPrefix(o.Key.String(), "/"), text))
		}
	}
	return parts
}

// Unobserved reports whether a child was changed and its controller has not looked at it yet.
func Unobserved(result *apply.Result) bool {
	for i := range result.Objects {
		if result.Objects[i].Unobserved {
			return true
		}
	}
	return false
}
