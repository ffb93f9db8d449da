package routing

import (
	"cmp"
	"fmt"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"

	"github.com/reconcilekit/reconcilekit/health"
)

// Reasons of route health that are not taken from a condition of the gateway.
const (
	reasonRouteNotFound = "HTTPRouteNotFound" // the HTTPRoute does not exist yet
	reasonRouteAccepted = "HTTPRouteAccepted" // every planned parent has accepted the route
	reasonRoutePending  = "HTTPRoutePending"  // a planned parent has not reported on this generation of the route yet
)

// HealthOptions configures [Health]. The zero value is useful.
type HealthOptions struct {
	// Controller is the controllerName of the planned gateways' class; statuses of other controllers are ignored. Empty counts all
	// controllers.
	Controller string
	// Parents are the parents that the caller planned, if other writers may add more to the route. Default: those of the route's spec.
	Parents []gatewayv1.ParentReference
	// Component is the name of the component. Default "HTTPRoute".
	Component string
}

// Health returns the health of an owner's route: the worst of its planned parents, by the conditions that the selected controller wrote
// for this generation. A nil route does not exist yet. The order of statuses and conditions does not matter.
//
//   - a parent without status, without Accepted, or with a status of an older generation: Progressing, "HTTPRoutePending"
//   - Accepted other than True: Failed with the reason of the gateway, also for Unknown
//   - ResolvedRefs False: Progressing if a backend is missing, Degraded when a reference is not permitted, else Failed
//   - PartiallyInvalid True: Degraded
//   - Programmed False (an extension of some gateways): Progressing
//
// Without a controller name, a status of an older generation is ignored if another controller reported on the same parent in this
// generation; the worst of those counts.
func Health(route *gatewayv1.HTTPRoute, options HealthOptions) health.Component {
	component := health.Component{Name: cmp.Or(options.Component, "HTTPRoute"), Child: true, Dependency: health.Downstream}
	if route == nil {
		return parentOutcome{
			state: health.Progressing, category: health.MissingDownstreamDependency,
			reason: reasonRouteNotFound, message: "HTTPRoute not found",
		}.fill(component)
	}
	parents := options.Parents
	if len(parents) == 0 {
		parents = route.Spec.ParentRefs
	}
	if len(parents) == 0 {
		parents = reportedParents(route)
	}
	worst := parentOutcome{state: health.Ready, reason: reasonRouteAccepted, message: "HTTPRoute is accepted by gateway"}
	if len(parents) == 0 {
		worst = pending("")
	}
	for i := range parents {
		where := ""
		if len(parents) > 1 {
			where = " " + describeParent(&parents[i], route.Namespace)
		}
		if v := worstOutcome(route, &parents[i], options.Controller, where); v.worse(worst) {
			worst = v
		}
	}
	return worst.fill(component)
}

// parentOutcome is the assessment of one parent.
type parentOutcome struct {
	state           health.State
	category        health.Category // empty: no error
	reason, message string
}

// worse orders judgements. The text breaks ties, so that the order of statuses does not matter.
func (v parentOutcome) worse(than parentOutcome) bool {
	if v.state != than.state {
		return health.Worse(v.state, than.state)
	}
	return cmp.Or(strings.Compare(v.reason, than.reason), strings.Compare(v.message, than.message)) < 0
}

func (v parentOutcome) fill(component health.Component) health.Component {
	component.State, component.Reason, component.Message = v.state, v.reason, v.message
	if v.category != "" {
		component.Errors = []error{health.NewError(v.category, v.reason, v.message, nil)}
	}
	return component
}

func pending(where string) parentOutcome {
	if where != "" {
		where = ":" + where + " has not reported a status yet"
	}
	return parentOutcome{
		state: health.Progressing, reason: reasonRoutePending,
		message: "HTTPRoute is waiting for gateway acceptance" + where,
	}
}

// worstOutcome returns the worst status of one parent. A status of this generation overrides the pending one of a controller that no
// longer serves the parent.
func worstOutcome(route *gatewayv1.HTTPRoute, parent *gatewayv1.ParentReference, controller, where string) parentOutcome {
	worst, current := pending(where), false
	for i := range route.Status.Parents {
		status := &route.Status.Parents[i]
		if controller != "" && string(status.ControllerName) != controller || !sameParent(&status.ParentRef, parent, route.Namespace) {
			continue
		}
		v, sameGeneration := conditionsOutcome(status.Conditions, route.Generation, where)
		if !sameGeneration {
			continue
		}
		if !current || v.worse(worst) {
			worst, current = v, true
		}
	}
	return worst
}

// conditionsOutcome assesses the conditions of one status. It returns false if they are of another generation.
func conditionsOutcome(conditions []metav1.Condition, generation int64, where string) (parentOutcome, bool) {
	accepted := currentCondition(conditions, string(gatewayv1.RouteConditionAccepted), generation)
	if accepted == nil {
		return parentOutcome{}, false
	}
	by := ""
	if where != "" {
		by = " by" + where
	}
	if accepted.Status != metav1.ConditionTrue {
		return parentOutcome{
			state: health.Failed, category: health.InvalidSpec,
			reason: accepted.Reason, message: fmt.Sprintf("HTTPRoute rejected%s: %s", by, accepted.Message),
		}, true
	}
	if refs := findCondition(conditions, string(gatewayv1.RouteConditionResolvedRefs)); refs != nil {
		switch {
		case refs.ObservedGeneration < generation || refs.Status == metav1.ConditionUnknown:
			return pending(where), true
		case refs.Status == metav1.ConditionFalse:
			return unresolved(refs, by), true
		}
	}
	if partial := currentCondition(conditions, string(gatewayv1.RouteConditionPartiallyInvalid), generation); partial != nil && partial.Status == metav1.ConditionTrue {
		return parentOutcome{
			state: health.Degraded, category: health.InvalidSpec,
			reason: partial.Reason, message: fmt.Sprintf("HTTPRoute is partially invalid%s: %s", by, partial.Message),
		}, true
	}
	if programmed := currentCondition(conditions, "Programmed", generation); programmed != nil && programmed.Status != metav1.ConditionTrue {
		return parentOutcome{
			state: health.Progressing, reason: programmed.Reason,
			message: fmt.Sprintf("HTTPRoute is not programmed%s: %s", by, programmed.Message),
		}, true
	}
	return parentOutcome{state: health.Ready, reason: reasonRouteAccepted, message: "HTTPRoute is accepted by gateway"}, true
}

// unresolved distinguishes a backend that does not exist yet, a reference that needs a ReferenceGrant, and a reference that cannot work.
func unresolved(refs *metav1.Condition, by string) parentOutcome {
	v := parentOutcome{reason: refs.Reason, message: fmt.Sprintf("HTTPRoute backend not resolved%s: %s", by, refs.Message)}
	switch gatewayv1.RouteConditionReason(refs.Reason) {
	case gatewayv1.RouteReasonInvalidKind, gatewayv1.RouteReasonUnsupportedProtocol:
		v.state, v.category = health.Failed, health.InvalidSpec
	case gatewayv1.RouteReasonRefNotPermitted:
		v.state, v.category = health.Degraded, health.MissingUpstreamDependency
	default:
		v.state, v.category = health.Progressing, health.MissingDownstreamDependency
	}
	return v
}

// currentCondition returns the condition if its observedGeneration is the generation.
func currentCondition(conditions []metav1.Condition, conditionType string, generation int64) *metav1.Condition {
	if condition := findCondition(conditions, conditionType); condition != nil && condition.ObservedGeneration >= generation {
		return condition
	}
	return nil
}

func findCondition(conditions []metav1.Condition, conditionType string) *metav1.Condition {
	for i := range conditions {
		if conditions[i].Type == conditionType {
			return &conditions[i]
		}
	}
	return nil
}

// reportedParents returns the parents in the status, for a route whose spec has none.
func reportedParents(route *gatewayv1.HTTPRoute) []gatewayv1.ParentReference {
	var parents []gatewayv1.ParentReference
	for i := range route.Status.Parents {
		known := false
		for j := range parents {
			known = known || sameParent(&parents[j], &route.Status.Parents[i].ParentRef, route.Namespace)
		}
		if !known {
			parents = append(parents, route.Status.Parents[i].ParentRef)
		}
	}
	return parents
}

// sameParent compares references of one route after defaulting.
func sameParent(a, b *gatewayv1.ParentReference, namespace string) bool {
	return value(a.Group, gatewayv1.GroupName) == value(b.Group, gatewayv1.GroupName) &&
		value(a.Kind, "Gateway") == value(b.Kind, "Gateway") &&
		value(a.Namespace, gatewayv1.Namespace(namespace)) == value(b.Namespace, gatewayv1.Namespace(namespace)) &&
		a.Name == b.Name &&
		value(a.SectionName, "") == value(b.SectionName, "") &&
		number(a.Port) == number(b.Port)
}

func number(port *gatewayv1.PortNumber) int32 {
	if port == nil {
		return 0
	}
	return *port
}

// describeParent names a parent for a message: "gateway infra/public, listener https".
func describeParent(parent *gatewayv1.ParentReference, namespace string) string {
	kind := strings.ToLower(string(value(parent.Kind, "Gateway")))
	text := fmt.Sprintf("%s %s/%s", kind, value(parent.Namespace, gatewayv1.Namespace(namespace)), parent.Name)
	if section := value(parent.SectionName, ""); section != "" {
		text += ", listener " + string(section)
	}
	if parent.Port != nil {
		text += fmt.Sprintf(", port %d", *parent.Port)
	}
	return strings.ReplaceAll(text, " /", " ")
}
