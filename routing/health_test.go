package routing_test

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"

	"github.com/reconcilekit/reconcilekit/health"
	"github.com/reconcilekit/reconcilekit/routing"
)

const controller = "example.com/gateway"

// condition returns a condition of the current generation, 3.
func condition(kind, status, reason string) metav1.Condition {
	return metav1.Condition{Type: kind, Status: metav1.ConditionStatus(status), Reason: reason, Message: "because", ObservedGeneration: 3}
}

func older(c metav1.Condition) metav1.Condition {
	c.ObservedGeneration = 2
	return c
}

func parentStatus(parent, by string, conditions ...metav1.Condition) gatewayv1.RouteParentStatus {
	return gatewayv1.RouteParentStatus{
		ParentRef: gatewayv1.ParentReference{Name: gatewayv1.ObjectName(parent)}, ControllerName: gatewayv1.GatewayController(by), Conditions: conditions,
	}
}

func TestHealth(t *testing.T) {
	t.Parallel()
	accepted, resolved := condition("Accepted", "True", "Accepted"), condition("ResolvedRefs", "True", "ResolvedRefs")
	rejected := condition("Accepted", "False", "NotAllowedByListeners")
	refs := func(reason string) metav1.Condition { return condition("ResolvedRefs", "False", reason) }
	type outcome struct {
		State           health.State
		Reason, Message string
		Category        health.Category
	}
	ready := outcome{health.Ready, "HTTPRouteAccepted", "HTTPRoute is accepted by gateway", ""}
	waiting := outcome{health.Progressing, "HTTPRoutePending", "HTTPRoute is waiting for gateway acceptance", ""}
	for name, test := range map[string]struct {
		parents  []string
		statuses []gatewayv1.RouteParentStatus
		options  routing.HealthOptions
		want     outcome
	}{
		"no status":            {want: waiting},
		"no conditions":        {statuses: []gatewayv1.RouteParentStatus{parentStatus("a", controller)}, want: waiting},
		"accepted":             {statuses: []gatewayv1.RouteParentStatus{parentStatus("a", controller, accepted)}, want: ready},
		"accepted, resolved":   {statuses: []gatewayv1.RouteParentStatus{parentStatus("a", controller, accepted, resolved)}, want: ready},
		"only resolved":        {statuses: []gatewayv1.RouteParentStatus{parentStatus("a", controller, resolved)}, want: waiting},
		"stale":                {statuses: []gatewayv1.RouteParentStatus{parentStatus("a", controller, older(accepted), older(resolved))}, want: waiting},
		"stale rejection":      {statuses: []gatewayv1.RouteParentStatus{parentStatus("a", controller, older(rejected))}, want: waiting},
		"stale references":     {statuses: []gatewayv1.RouteParentStatus{parentStatus("a", controller, accepted, older(refs("BackendNotFound")))}, want: waiting},
		"unknown references":   {statuses: []gatewayv1.RouteParentStatus{parentStatus("a", controller, accepted, condition("ResolvedRefs", "Unknown", "X"))}, want: waiting},
		"unplanned parent":     {statuses: []gatewayv1.RouteParentStatus{parentStatus("b", controller, accepted)}, want: waiting},
		"unplanned bad parent": {statuses: []gatewayv1.RouteParentStatus{parentStatus("b", controller, rejected), parentStatus("a", controller, accepted)}, want: ready},
		"rejected": {
			statuses: []gatewayv1.RouteParentStatus{parentStatus("a", controller, rejected, resolved)},
			want:     outcome{health.Failed, "NotAllowedByListeners", "HTTPRoute rejected: because", health.InvalidSpec},
		},
		"accepted unknown": {
			statuses: []gatewayv1.RouteParentStatus{parentStatus("a", controller, condition("Accepted", "Unknown", "Pending"))},
			want:     outcome{health.Failed, "Pending", "HTTPRoute rejected: because", health.InvalidSpec},
		},
		"backend missing": {
			statuses: []gatewayv1.RouteParentStatus{parentStatus("a", controller, accepted, refs("BackendNotFound"))},
			want:     outcome{health.Progressing, "BackendNotFound", "HTTPRoute backend not resolved: because", health.MissingDownstreamDependency},
		},
		"reference not permitted": {
			statuses: []gatewayv1.RouteParentStatus{parentStatus("a", controller, accepted, refs("RefNotPermitted"))},
			want:     outcome{health.Degraded, "RefNotPermitted", "HTTPRoute backend not resolved: because", health.MissingUpstreamDependency},
		},
		"backend kind": {
			statuses: []gatewayv1.RouteParentStatus{parentStatus("a", controller, accepted, refs("InvalidKind"))},
			want:     outcome{health.Failed, "InvalidKind", "HTTPRoute backend not resolved: because", health.InvalidSpec},
		},
		"partially invalid": {
			statuses: []gatewayv1.RouteParentStatus{parentStatus("a", controller, accepted, resolved, condition("PartiallyInvalid", "True", "UnsupportedValue"))},
			want:     outcome{health.Degraded, "UnsupportedValue", "HTTPRoute is partially invalid: because", health.InvalidSpec},
		},
		"not programmed": {
			statuses: []gatewayv1.RouteParentStatus{parentStatus("a", controller, accepted, resolved, condition("Programmed", "False", "Invalid"))},
			want:     outcome{health.Progressing, "Invalid", "HTTPRoute is not programmed: because", ""},
		},
		"one of two rejects": {
			parents:  []string{"a", "b"},
			statuses: []gatewayv1.RouteParentStatus{parentStatus("a", controller, accepted), parentStatus("b", controller, rejected)},
			want:     outcome{health.Failed, "NotAllowedByListeners", "HTTPRoute rejected by gateway team-a/b: because", health.InvalidSpec},
		},
		"one of two has no status": {
			parents:  []string{"a", "b"},
			statuses: []gatewayv1.RouteParentStatus{parentStatus("a", controller, accepted)},
			want:     outcome{health.Progressing, "HTTPRoutePending", "HTTPRoute is waiting for gateway acceptance: gateway team-a/b has not reported a status yet", ""},
		},
		"another controller": {
			statuses: []gatewayv1.RouteParentStatus{parentStatus("a", "example.com/other", accepted)},
			options:  routing.HealthOptions{Controller: controller},
			want:     waiting,
		},
		"another controller's rejection": {
			statuses: []gatewayv1.RouteParentStatus{parentStatus("a", "example.com/other", rejected), parentStatus("a", controller, accepted)},
			options:  routing.HealthOptions{Controller: controller},
			want:     ready,
		},
		"a stale status of a former controller": {
			statuses: []gatewayv1.RouteParentStatus{parentStatus("a", "example.com/former", older(rejected)), parentStatus("a", controller, accepted)},
			want:     ready,
		},
		"any controller's rejection": {
			statuses: []gatewayv1.RouteParentStatus{parentStatus("a", "example.com/other", accepted), parentStatus("a", controller, rejected)},
			want:     outcome{health.Failed, "NotAllowedByListeners", "HTTPRoute rejected: because", health.InvalidSpec},
		},
		"planned parents given": {
			parents:  []string{"a", "other"},
			statuses: []gatewayv1.RouteParentStatus{parentStatus("a", controller, accepted), parentStatus("other", controller, rejected)},
			options:  routing.HealthOptions{Parents: []gatewayv1.ParentReference{{Name: "a"}}},
			want:     ready,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			route := &gatewayv1.HTTPRoute{ObjectMeta: metav1.ObjectMeta{Namespace: "team-a", Name: "demo", Generation: 3}}
			if test.parents == nil {
				test.parents = []string{"a"}
			}
			for _, parent := range test.parents {
				route.Spec.ParentRefs = append(route.Spec.ParentRefs, gatewayv1.ParentReference{Name: gatewayv1.ObjectName(parent)})
			}
			route.Status.Parents = test.statuses
			for range 2 {
				component := routing.Health(route, test.options)
				got := outcome{State: component.State, Reason: component.Reason, Message: component.Message}
				for _, err := range component.Errors {
					got.Category = health.Categorize(err).Category
				}
				if diff := cmp.Diff(test.want, got); diff != "" {
					t.Errorf("outcome (-want +got):\n%s", diff)
				}
				if !component.Child || component.Name != "HTTPRoute" || component.Dependency != health.Downstream {
					t.Errorf("component = %+v, want a child named HTTPRoute", component)
				}
				// Repeat with all lists in reverse order.
				slices.Reverse(route.Status.Parents)
				for i := range route.Status.Parents {
					slices.Reverse(route.Status.Parents[i].Conditions)
				}
			}
		})
	}
}

func TestHealthWithoutRoute(t *testing.T) {
	t.Parallel()
	component := routing.Health(nil, routing.HealthOptions{Component: "Route"})
	if component.State != health.Progressing || component.Reason != "HTTPRouteNotFound" || component.Name != "Route" || len(component.Errors) != 1 {
		t.Errorf("component = %+v", component)
	}
	if blocking := health.Blocking([]health.Component{component}); len(blocking) != 0 {
		t.Errorf("a missing route blocks: %v", blocking)
	}
}

func TestHealthParentIdentity(t *testing.T) {
	t.Parallel()
	section, port, namespace := gatewayv1.SectionName("https"), gatewayv1.PortNumber(443), gatewayv1.Namespace("infra")
	planned := gatewayv1.ParentReference{Namespace: &namespace, Name: "a", SectionName: &section, Port: &port}
	kind, group := gatewayv1.Kind("Gateway"), gatewayv1.Group(gatewayv1.GroupName)
	same := *planned.DeepCopy()
	same.Kind, same.Group = &kind, &group
	for name, test := range map[string]struct {
		change func(*gatewayv1.ParentReference)
		want   health.State
	}{
		"defaults":  {func(*gatewayv1.ParentReference) {}, health.Ready},
		"section":   {func(p *gatewayv1.ParentReference) { p.SectionName = nil }, health.Progressing},
		"port":      {func(p *gatewayv1.ParentReference) { p.Port = nil }, health.Progressing},
		"namespace": {func(p *gatewayv1.ParentReference) { p.Namespace = nil }, health.Progressing},
		"kind":      {func(p *gatewayv1.ParentReference) { service := gatewayv1.Kind("Service"); p.Kind = &service }, health.Progressing},
	} {
		reported := *same.DeepCopy()
		test.change(&reported)
		route := &gatewayv1.HTTPRoute{ObjectMeta: metav1.ObjectMeta{Namespace: "team-a"}}
		route.Spec.ParentRefs = []gatewayv1.ParentReference{planned}
		route.Status.Parents = []gatewayv1.RouteParentStatus{{
			ParentRef: reported, ControllerName: controller, Conditions: []metav1.Condition{condition("Accepted", "True", "Accepted")},
		}}
		if got := routing.Health(route, routing.HealthOptions{}).State; got != test.want {
			t.Errorf("%s: state = %s, want %s", name, got, test.want)
		}
	}
}
