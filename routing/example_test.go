package routing_test

import (
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"

	"github.com/reconcilekit/reconcilekit/routing"
	"github.com/reconcilekit/reconcilekit/routing/pathtemplate"
)

// shop returns an example custom resource; any API type can be used.
func shop() *corev1.ConfigMap {
	return &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: "team-a", Name: "Shop", UID: "0b5e",
			Labels:      map[string]string{"example.com/tenant": "Blue_1"},
			Annotations: map[string]string{"example.com/path": "V1/Orders"},
		},
		Data: map[string]string{"image": "acme/shop:1.2"},
	}
}

func ExampleResolve() {
	on, off, template := true, false, "/shops/{.metadata.name}"
	settings := routing.Resolve(
		routing.Layer{Name: "spec.routing", Enabled: &off},
		routing.Layer{Name: "the cluster's configuration", Enabled: &on, PathTemplate: &template, Timeout: &metav1.Duration{}},
	)
	fmt.Println(settings.Enabled.Value, "by", settings.Enabled.Layer)
	fmt.Println(settings.Path(shop(), pathtemplate.Options{}))
	timeout, err := settings.RequestTimeout()
	fmt.Println(*timeout, err)
	// Output:
	// false by spec.routing
	// /shops/shop <nil>
	// 0s <nil>
}

func ExampleFormatTimeout() {
	for _, d := range []time.Duration{90 * time.Second, 1500 * time.Millisecond, 0, 100 * time.Microsecond} {
		timeout, err := routing.FormatTimeout(d)
		fmt.Printf("%q %v\n", timeout, err)
	}
	// Output:
	// "1m30s" <nil>
	// "1s500ms" <nil>
	// "0s" <nil>
	// "" TimeoutInvalid: timeout "100µs": it is finer than a millisecond: round it to whole milliseconds
}

func ExampleParseTimeout() {
	fmt.Println(routing.ParseTimeout("1h30m"))
	fmt.Println(routing.ParseTimeout("1.5s"))
	// Output:
	// 1h30m0s <nil>
	// 0s TimeoutInvalid: timeout "1.5s": the unit after 1 is missing or unknown: write one to four whole numbers of at most five digits, each with its unit h, m, s or ms, such as "30s" or "1m30s" (GEP-2257)
}

func ExampleNewHTTPRoute() {
	root, timeout := "/", gatewayv1.Duration("30s")
	plan := routing.Route{
		Namespace: "team-a", Name: "shop",
		Parents: []gatewayv1.ParentReference{{Name: "public"}},
		Rules: []routing.Rule{{
			Matches:       []routing.Match{{Path: "/team-a/shop"}},
			ReplacePrefix: &root,
			Timeout:       &timeout,
			Backends:      []routing.Backend{{Name: "shop", Port: 80}},
		}},
	}
	route, err := routing.NewHTTPRoute(plan)
	fmt.Println(*route.Spec.Rules[0].Matches[0].Path.Value, err)

	plan.Rules[0].Matches[0].Path = "/a//b"
	_, err = routing.NewHTTPRoute(plan)
	fmt.Println(err)
	// Output:
	// /team-a/shop <nil>
	// HTTPRouteInvalid: HTTPRoute team-a/shop: spec.rules[0].matches[0].path.value: Invalid value: "/a//b": must not contain "//"
}

func ExampleHealth() {
	route := &gatewayv1.HTTPRoute{ObjectMeta: metav1.ObjectMeta{Namespace: "team-a", Generation: 2}}
	route.Spec.ParentRefs = []gatewayv1.ParentReference{{Name: "public"}}
	component := routing.Health(route, routing.HealthOptions{Controller: "example.com/gateway"})
	fmt.Println(component.State, component.Reason, component.Message)

	route.Status.Parents = []gatewayv1.RouteParentStatus{{
		ParentRef: gatewayv1.ParentReference{Name: "public"}, ControllerName: "example.com/gateway",
		Conditions: []metav1.Condition{{
			Type: "Accepted", Status: "False", ObservedGeneration: 2, Reason: "NotAllowedByListeners", Message: "no listener takes team-a",
		}},
	}}
	component = routing.Health(route, routing.HealthOptions{Controller: "example.com/gateway"})
	fmt.Println(component.State, component.Reason, component.Message)
	// Output:
	// Progressing HTTPRoutePending HTTPRoute is waiting for gateway acceptance
	// Failed NotAllowedByListeners HTTPRoute rejected: no listener takes team-a
}
