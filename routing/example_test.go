package routing_test

import (
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"

	"github.com/reconcilekit/reconcilekit/routing"
)

// shop stands for the custom resource of an operator; any API type does.
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

func ExampleParsePath() {
	template, err := routing.ParsePath("/{.metadata.namespace}/{.metadata.name}/{.data.image}")
	if err != nil {
		fmt.Println(err)
		return
	}
	path, err := template.Render(shop())
	fmt.Println(path, err)

	_, err = routing.ParsePath("/{.metadata.name", routing.Field("spec.path"))
	fmt.Println(err)
	// Output:
	// /team-a/shop/acme-shop-1-2 <nil>
	// PathTemplateInvalid: spec.path "/{.metadata.name": the brace at byte 2 is not closed: expressions look like {.metadata.name}, a literal brace like \{
}

func ExampleRenderPath() {
	for _, template := range []string{
		"/{.metadata.labels['example.com/tenant']}/{.metadata.annotations['example.com/path']}",
		"/{.metadata.labels.missing}",
		"/___",
	} {
		path, err := routing.RenderPath(template, shop())
		fmt.Printf("%q %v\n", path, err)
	}
	path, err := routing.RenderPath(`/\{v1\}/{.metadata.name} é`, shop(), routing.EncodedSegments)
	fmt.Println(path, err)
	// Output:
	// "/blue-1/v1/orders" <nil>
	// "" PathTemplateInvalid: path template "/{.metadata.labels.missing}": failed to evaluate route template ".metadata.labels.missing": jsonpath evaluation error: missing is not found: an expression must give exactly one string, number or boolean of the object
	// "" PathTemplateInvalid: path template "/___": the path collapses to "/", which would take every request of the listener: add a segment with letters or digits
	// /%7Bv1%7D/Shop%20%C3%A9 <nil>
}

func ExamplePathCache() {
	var cache routing.PathCache // one for the life of the controller
	for range 2 {               // the second pass compiles nothing
		fmt.Println(routing.RenderPath("/{.metadata.name}", shop(), &cache))
	}
	// Output:
	// /shop <nil>
	// /shop <nil>
}

func ExampleResolve() {
	on, off, template := true, false, "/shops/{.metadata.name}"
	settings := routing.Resolve(
		routing.Layer{Name: "spec.routing", Enabled: &off},
		routing.Layer{Name: "the cluster's configuration", Enabled: &on, PathTemplate: &template, Timeout: &metav1.Duration{}},
	)
	fmt.Println(settings.Enabled.Value, "by", settings.Enabled.Layer)
	fmt.Println(settings.Path(shop()))
	timeout, err := settings.RequestTimeout()
	fmt.Println(*timeout, err)
	// Output:
	// false by spec.routing
	// /shops/shop <nil>
	// 0s <nil>
}

func ExampleFirst() {
	namespace, cluster := 0, 20
	headroom := routing.First(
		routing.Source[int]{Layer: "namespace", Value: &namespace},
		routing.Source[int]{Layer: "cluster", Value: &cluster},
	)
	fmt.Println(headroom.Or(10), "by", headroom.Layer)
	fmt.Println(routing.First[int]().Or(10), routing.First[int]().Pointer() == nil)
	// Output:
	// 0 by namespace
	// 10 true
}

func ExampleMergeMaps() {
	fmt.Println(routing.MergeMaps(map[string]string{"a": "owner"}, map[string]string{"a": "cluster", "b": "cluster"}))
	// Output: map[a:owner b:cluster]
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
	component := routing.Health(route, routing.Controller("example.com/gateway"))
	fmt.Println(component.State, component.Reason, component.Message)

	route.Status.Parents = []gatewayv1.RouteParentStatus{{
		ParentRef: gatewayv1.ParentReference{Name: "public"}, ControllerName: "example.com/gateway",
		Conditions: []metav1.Condition{{
			Type: "Accepted", Status: "False", ObservedGeneration: 2, Reason: "NotAllowedByListeners", Message: "no listener takes team-a",
		}},
	}}
	component = routing.Health(route, routing.Controller("example.com/gateway"))
	fmt.Println(component.State, component.Reason, component.Message)
	// Output:
	// Progressing HTTPRoutePending HTTPRoute is waiting for gateway acceptance
	// Failed NotAllowedByListeners HTTPRoute rejected: no listener takes team-a
}

func ExampleDecide() {
	claim := func(name string, year int) routing.Claim {
		return routing.Claim{
			Owner:  routing.Claimant{Namespace: "team-a", Name: name, Created: time.Date(year, 1, 1, 0, 0, 0, 0, time.UTC)},
			Parent: routing.ClaimedParent{Namespace: "infra", Name: "public"},
			Path:   "/shop",
		}
	}
	for _, decision := range routing.Decide([]routing.Claim{claim("young", 2026), claim("old", 2025)}) {
		fmt.Println(decision.Claim.Owner, "stands:", decision.Winner == nil)
	}
	late := &metav1.ObjectMeta{Namespace: "team-a", Name: "young"}
	fmt.Println(routing.Decide([]routing.Claim{claim("young", 2026), claim("old", 2025)}).Of(late).Err())
	// Output:
	// team-a/old stands: true
	// team-a/young stands: false
	// PathConflict: path "/shop" on gateway infra/public belongs to team-a/old, which is older: choose another path, host or listener
}
