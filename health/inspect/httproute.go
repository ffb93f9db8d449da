package inspect

import (
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"

	"github.com/reconcilekit/reconcilekit/health"
)

// httpRoute inspects a Gateway API route over all parents and controllers; routing.Health considers one controller. The order of parents
// and conditions does not matter, and conditions of an older generation are ignored.
//
// A rejected parent is InvalidSpec. An accepted parent with unresolved references is a missing downstream dependency (a backend), Auth
// (not permitted) or InvalidSpec. A partially accepted parent is Degraded; a parent without a decision is Progressing. The route is ready
// if every parent is, Degraded if some are ready and others have errors, else it has the worst health of its parents. It waits for
// parents in the spec that have no status, and ignores the status of parents that are not in the spec. A nil route is a missing
// downstream dependency. See https://gateway-api.sigs.k8s.io/geps/gep-1364/.
func httpRoute(route *gatewayv1.HTTPRoute) health.Component {
	if route == nil {
		return missing("HTTPRouteNotFound", "HTTPRoute")
	}
	if route.DeletionTimestamp != nil {
		return terminating("HTTPRoute")
	}
	var all []health.Component
	reported := reports(route)
	for _, parent := range reported {
		all = append(all, routeParent(parent, route.Generation))
	}
	if waiting(route, reported) {
		all = append(all, routePending())
	}
	return worstParent(all)
}

func routePending() health.Component {
	return progressing("HTTPRoutePending", "HTTPRoute is waiting for gateway acceptance")
}

// reports returns the statuses of the parents in the spec, or all if the spec has none.
func reports(route *gatewayv1.HTTPRoute) []gatewayv1.RouteParentStatus {
	var list []gatewayv1.RouteParentStatus
	for _, parent := range route.Status.Parents {
		named := len(route.Spec.ParentRefs) == 0 || slices.ContainsFunc(route.Spec.ParentRefs,
			func(ref gatewayv1.ParentReference) bool { return sameParent(route.Namespace, ref, parent.ParentRef) })
		if named {
			list = append(list, parent)
		}
	}
	return list
}

// waiting reports whether a parent in the spec has no status, or there is no status at all.
func waiting(route *gatewayv1.HTTPRoute, reported []gatewayv1.RouteParentStatus) bool {
	for _, ref := range route.Spec.ParentRefs {
		if !slices.ContainsFunc(reported, func(parent gatewayv1.RouteParentStatus) bool {
			return sameParent(route.Namespace, ref, parent.ParentRef)
		}) {
			return true
		}
	}
	return len(reported) == 0
}

// sameParent compares two references after defaulting.
func sameParent(namespace string, a, b gatewayv1.ParentReference) bool {
	return or(a.Group, gatewayv1.GroupName) == or(b.Group, gatewayv1.GroupName) &&
		or(a.Kind, "Gateway") == or(b.Kind, "Gateway") &&
		or(a.Namespace, gatewayv1.Namespace(namespace)) == or(b.Namespace, gatewayv1.Namespace(namespace)) &&
		a.Name == b.Name &&
		or(a.SectionName, "") == or(b.SectionName, "") &&
		or(a.Port, 0) == or(b.Port, 0)
}

func or[T any](value *T, otherwise T) T {
	if value == nil {
		return otherwise
	}
	return *value
}

// routeParent inspects one controller's status of one parent.
func routeParent(parent gatewayv1.RouteParentStatus, generation int64) health.Component {
	accepted := routeCondition(parent, gatewayv1.RouteConditionAccepted, generation)
	resolved := routeCondition(parent, gatewayv1.RouteConditionResolvedRefs, generation)
	partial := routeCondition(parent, gatewayv1.RouteConditionPartiallyInvalid, generation)
	switch {
	case accepted.Status == metav1.ConditionFalse:
		return broken(health.InvalidSpec, accepted.Reason, "HTTPRoute rejected: "+accepted.Message)
	case resolved.Status == metav1.ConditionFalse:
		return broken(unresolved(resolved.Reason), resolved.Reason, "HTTPRoute backend not resolved: "+resolved.Message)
	case accepted.Status == "":
		return routePending()
	case accepted.Status != metav1.ConditionTrue:
		return progressing("HTTPRoutePending", "HTTPRoute is waiting for gateway acceptance: "+accepted.Message)
	case partial.Status == metav1.ConditionTrue:
		return health.Component{State: health.Degraded, Reason: partial.Reason, Message: "HTTPRoute is partially invalid: " + partial.Message}
	}
	return ready("HTTPRouteAccepted", "HTTPRoute is accepted by gateway")
}

// routeCondition returns the condition of this generation, or an empty one.
func routeCondition(
	parent gatewayv1.RouteParentStatus, kind gatewayv1.RouteConditionType, generation int64,
) metav1.Condition {
	for _, c := range parent.Conditions {
		if c.Type == string(kind) && (c.ObservedGeneration == 0 || c.ObservedGeneration >= generation) {
			return c
		}
	}
	return metav1.Condition{}
}

// unresolved returns the category for a reason of ResolvedRefs=False.
func unresolved(reason string) health.Category {
	switch gatewayv1.RouteConditionReason(reason) {
	case gatewayv1.RouteReasonRefNotPermitted:
		return health.Auth
	case gatewayv1.RouteReasonInvalidKind, gatewayv1.RouteReasonUnsupportedProtocol:
		return health.InvalidSpec
	default:
		return health.MissingDownstreamDependency
	}
}

// worstParent aggregates the parents: the worst, by state, reason and message. If another parent works, errors only degrade the route.
func worstParent(all []health.Component) health.Component {
	worst, some := all[0], false
	for _, c := range all {
		some = some || c.GetState() == health.Ready
		if worseParent(c, worst) {
			worst = c
		}
	}
	if some && worst.GetState().Failing() {
		return health.Component{State: health.Degraded, Reason: worst.GetReason(), Message: worst.GetMessage()}
	}
	return worst
}

func worseParent(a, b health.Component) bool {
	if s, t := a.GetState(), b.GetState(); s != t {
		return health.Worse(s, t)
	}
	if r, s := a.GetReason(), b.GetReason(); r != s {
		return r < s
	}
	return a.GetMessage() < b.GetMessage()
}
