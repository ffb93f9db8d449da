package routing_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"

	"github.com/reconcilekit/reconcilekit/routing"
	"github.com/reconcilekit/reconcilekit/routing/pathtemplate"
)

// TestResolveDoesNotMergeGateways checks that the gateway of a higher layer inherits neither namespace nor listener from
// that of a lower one.
func TestResolveDoesNotMergeGateways(t *testing.T) {
	t.Parallel()
	low := &gatewayv1.ParentReference{Namespace: new(gatewayv1.Namespace("infra")), Name: "shared", SectionName: new(gatewayv1.SectionName("https"))}
	settings := routing.Resolve(
		routing.Layer{Name: "namespace", Gateway: &gatewayv1.ParentReference{Name: "own"}},
		routing.Layer{Name: "cluster", Gateway: low, Enabled: new(true)},
	)
	parent, err := settings.Parent()
	if diff := cmp.Diff(&gatewayv1.ParentReference{Name: "own"}, parent); diff != "" || err != nil {
		t.Errorf("parent %v (-want +got):\n%s", err, diff)
	}
	settings = routing.Resolve(routing.Layer{Name: "cluster", Gateway: low, Enabled: new(true)})
	*low.Namespace = "changed"
	if parent, _ := settings.Parent(); *parent.Namespace != "infra" {
		t.Error("the settings share memory with the layer")
	}
}

func TestParentMissing(t *testing.T) {
	t.Parallel()
	_, err := routing.Resolve(routing.Layer{Name: "spec.routing", Enabled: new(true)}).Parent()
	checkOutcome(t, err, routing.ReasonGatewayNotConfigured, "routing is enabled by spec.routing, and nothing names a gateway")
	for name, layer := range map[string]routing.Layer{
		"off":    {Enabled: new(false), Gateway: &gatewayv1.ParentReference{Name: "a"}},
		"silent": {Gateway: &gatewayv1.ParentReference{Name: "a"}},
	} {
		if parent, err := routing.Resolve(layer).Parent(); parent != nil || err != nil {
			t.Errorf("%s: %v, %v, want no parent", name, parent, err)
		}
	}
}

// TestSettingsErrorsNameTheLayer checks that the error of an invalid setting names its layer.
func TestSettingsErrorsNameTheLayer(t *testing.T) {
	t.Parallel()
	settings := routing.Resolve(routing.Layer{Name: "spec.routing"}, routing.Layer{
		Name: "the cluster's configuration", PathTemplate: new("/{"), Timeout: &metav1.Duration{Duration: -time.Second},
	})
	_, err := settings.Path(&metav1.ObjectMeta{Namespace: "team-a", Name: "demo", UID: "u-1"}, pathtemplate.Options{})
	checkOutcome(t, err, "PathTemplateInvalid", `path template in the cluster's configuration "/{": `)
	_, err = settings.RequestTimeout()
	checkOutcome(t, err, "TimeoutInvalid", `timeout in the cluster's configuration "-1s": `)
	_, err = routing.Resolve().Path(&metav1.ObjectMeta{Name: "a"}, pathtemplate.Options{})
	checkOutcome(t, err, "PathTemplateInvalid", `collapses to "/"`)
	if path, err := routing.Resolve().Path(&metav1.ObjectMeta{Name: "a"}, pathtemplate.Options{AllowRoot: true}); path != "/" || err != nil {
		t.Errorf("path = %q, %v, want /", path, err)
	}
	if timeout, err := routing.Resolve().RequestTimeout(); timeout != nil || err != nil {
		t.Errorf("timeout = %v, %v, want none", timeout, err)
	}
}

// TestSettingsHTTPRoute checks that the settings fill only the fields that the plan leaves empty, and that they do not
// change the plan.
func TestSettingsHTTPRoute(t *testing.T) {
	t.Parallel()
	object := &metav1.ObjectMeta{Namespace: "team-a", Name: "demo", UID: "u-1"}
	layer := routing.Layer{
		Name: "spec.routing", Enabled: new(true), Gateway: &gatewayv1.ParentReference{Name: "public"}, PathTemplate: new("/{.metadata.name}"),
		Timeout: &metav1.Duration{Duration: time.Minute}, Annotations: map[string]string{"a": "settings", "b": "settings"},
	}
	backends := []routing.Backend{{Name: "demo", Port: 80}}
	plan := routing.Route{
		Name: "demo", Annotations: map[string]string{"a": "plan"}, Rules: []routing.Rule{
			{Matches: []routing.Match{{Path: "/own"}}, Timeout: new(gatewayv1.Duration("1s")), Backends: backends}, {Backends: backends},
		},
	}
	got, err := routing.Resolve(layer).HTTPRoute(object, pathtemplate.Options{}, plan)
	if err != nil {
		t.Fatal(err)
	}
	want, err := routing.NewHTTPRoute(routing.Route{
		Namespace: "team-a", Name: "demo", Annotations: map[string]string{"a": "plan", "b": "settings"},
		Parents: []gatewayv1.ParentReference{{Name: "public"}}, Rules: []routing.Rule{
			{Matches: []routing.Match{{Path: "/own"}}, Timeout: new(gatewayv1.Duration("1s")), Backends: backends},
			{Matches: []routing.Match{{Path: "/demo"}}, Timeout: new(gatewayv1.Duration("1m0s")), Backends: backends},
		},
	})
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Errorf("route %v (-want +got):\n%s", err, diff)
	}
	if plan.Rules[1].Matches != nil || plan.Rules[1].Timeout != nil {
		t.Errorf("the plan was changed: %+v", plan.Rules[1])
	}

	plan.Namespace, plan.Parents = "team-b", []gatewayv1.ParentReference{{Name: "private"}}
	if got, err = routing.Resolve(layer).HTTPRoute(object, pathtemplate.Options{}, plan); err != nil {
		t.Fatal(err)
	}
	if got.Namespace != "team-b" || len(got.Spec.ParentRefs) != 1 || got.Spec.ParentRefs[0].Name != "private" {
		t.Errorf("got a route in namespace %s with parents %v, want those of the plan", got.Namespace, got.Spec.ParentRefs)
	}
}

// TestSettingsHTTPRouteRefused checks that disabled routing has no route, and that each invalid setting is an error.
func TestSettingsHTTPRouteRefused(t *testing.T) {
	t.Parallel()
	gateway := &gatewayv1.ParentReference{Name: "public"}
	for name, tc := range map[string]struct {
		layer        routing.Layer
		reason, want string
	}{
		"Off":       {layer: routing.Layer{Gateway: gateway, PathTemplate: new("/{")}},
		"NoGateway": {layer: routing.Layer{Enabled: new(true)}, reason: routing.ReasonGatewayNotConfigured, want: "nothing names a gateway"},
		"Path":      {layer: routing.Layer{Enabled: new(true), Gateway: gateway, PathTemplate: new("/{")}, reason: "PathTemplateInvalid", want: `"/{"`},
		"Timeout": {
			layer:  routing.Layer{Enabled: new(true), Gateway: gateway, Timeout: &metav1.Duration{Duration: -time.Second}},
			reason: "TimeoutInvalid", want: `"-1s"`,
		},
		"Plan": {layer: routing.Layer{Enabled: new(true), Gateway: gateway}, reason: "HTTPRouteInvalid", want: "spec.rules"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			object := &metav1.ObjectMeta{Namespace: "team-a", Name: "demo", UID: "u-1"}
			route, err := routing.Resolve(tc.layer).HTTPRoute(object, pathtemplate.Options{}, routing.Route{Name: "demo"})
			if route != nil {
				t.Errorf("got the route %v, want none", route)
			}
			checkOutcome(t, err, tc.reason, tc.want)
		})
	}
}
