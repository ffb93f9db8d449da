package pipeline

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/reconcilekit/reconcilekit/conditions"
	"github.com/reconcilekit/reconcilekit/health"
	"github.com/reconcilekit/reconcilekit/reconcile/apply"
)

// observedWithin is the delay of a pass that checks a child whose controller had not observed a change of the pass before. An event of its
// status triggers a pass earlier, if the child is watched with its status.
const observedWithin = 10 * time.Second

// unlikePlan returns a component without a name for the objects that differ from the plan without an error. While there are any, the
// owner is not Ready, whatever its components report. Without any, the component does not apply. The argument owner is the UID of the
// owner, whose own deletion is not reported.
//
// Errors are separate components, and also make the owner not Ready. Each result therefore matches the plan, has an error, or is
// reported here.
func unlikePlan(result *apply.Result, owner types.UID) health.Component {
	var first apply.Reason
	var parts []string
	more := 0
	for i := range result.Objects {
		o := &result.Objects[i]
		reason, text := unlike(o, owner)
		if reason != "" && reason != apply.ReasonNamespaceTerminating {
			text = fmt.Sprintf("%s %s %s", o.GVK.Kind, strings.TrimPrefix(o.Key.String(), "/"), text)
		}
		switch {
		case reason == "" || slices.Contains(parts, text):
			continue
		case len(parts) == maxLogged:
			more++
			continue
		case first == "":
			first = reason
		}
		parts = append(parts, text)
	}
	if len(parts) == 0 {
		return health.Component{}
	}
	if more > 0 {
		parts = append(parts, fmt.Sprintf("and %d more", more))
	}
	return health.Component{
		State: health.Progressing, Reason: string(first), Message: conditions.Bound(strings.Join(parts, "; ")), Immediate: true,
	}
}

// unlike returns why one object differs from the plan. It returns an empty reason if the object matches, or if its error reports the
// difference.
//
// A child that another pass wrote and that the cache does not show yet (StaleCache) matched in the response to that write. An object
// that is opted out is no longer part of the plan.
func unlike(o *apply.ObjectResult, owner types.UID) (reason apply.Reason, text string) {
	switch {
	case o.Err != nil:
		return "", ""
	case o.Reason == apply.ReasonNamespaceTerminating: // once for all children in the namespace
		return o.Reason, fmt.Sprintf("namespace %s is being deleted, and nothing can be created in it", o.Key.Namespace)
	case o.WaitsUntil != "":
		return apply.ReasonWaiting, "waits until " + o.WaitsUntil
	case o.Reason == apply.ReasonTerminating && (o.Outcome == apply.OutcomeBlocked || len(o.Finalizers) > 0):
		if owner != "" && o.UID == owner {
			return "", ""
		}
		return o.Reason, terminating(o)
	case o.Unobserved && o.Outcome == apply.OutcomeDeleted:
		return apply.ReasonUnobserved, "was deleted and will be recreated"
	case o.Unobserved:
		return apply.ReasonUnobserved, "was changed, and its status is not about the change yet"
	}
	if o.Outcome == apply.OutcomeBlocked && o.Verb == apply.VerbNone && o.Reason == apply.ReasonReadFailed {
		return "", "" // a deferred external read: no difference is known
	}
	switch o.Outcome {
	case apply.OutcomeBlocked, apply.OutcomeWaiting, apply.OutcomeContested, apply.OutcomeFailed:
		return o.Reason, fmt.Sprintf("is not as planned yet (%s)", o.Reason)
	case apply.OutcomeUnchanged, apply.OutcomeCreated, apply.OutcomeUpdated, apply.OutcomeDeleted, apply.OutcomePruned, apply.OutcomeReleased,
		apply.OutcomeOptedOut:
	}
	return "", ""
}

// terminating returns the text about an object that is being deleted and the reason why it still exists. It blocks a child, but not a
// planned deletion.
func terminating(o *apply.ObjectResult) string {
	text := "is being deleted"
	if len(o.Finalizers) > 0 {
		text += " and " + (&apply.HeldError{Finalizers: o.Finalizers}).Error()
	}
	if o.Outcome == apply.OutcomeBlocked {
		text += "; it is created again when it is gone"
	}
	return text
}

// overridden lists the planned fields with other stored values, by object; empty if there are none.
func overridden(result *apply.Result) string {
	var parts []string
	more := 0
	for i := range result.Objects {
		o := &result.Objects[i]
		for _, f := range o.Overridden {
			if len(parts) == maxLogged {
				more++
				continue
			}
			have := f.From
			if have == "" {
				have = "missing"
			}
			parts = append(parts, fmt.Sprintf("%s %s %s is %s, planned %s", o.GVK.Kind, strings.TrimPrefix(o.Key.String(), "/"), f.Path, have, f.To))
		}
	}
	if len(parts) == 0 {
		return ""
	}
	if more > 0 {
		parts = append(parts, fmt.Sprintf("and %d more", more))
	}
	return conditions.Bound("All components are ready, but a mutating webhook or policy, or the API server, changes what is planned: " + strings.Join(parts, "; "))
}

// unobserved reports whether a child was changed and its controller has not observed the change yet.
func unobserved(result *apply.Result) bool {
	for i := range result.Objects {
		if result.Objects[i].Unobserved {
			return true
		}
	}
	return false
}
