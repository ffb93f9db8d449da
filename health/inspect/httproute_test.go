package inspect_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"

	"github.com/reconcilekit/reconcilekit/health/inspect"
	"github.com/reconcilekit/reconcilekit/internal/vectors"
)

func TestHTTPRoute(t *testing.T) {
	t.Parallel()
	parent := func(name, controller, conditions string) string {
		return fmt.Sprintf(`{"parentRef":{"name":"%s"},"controllerName":"%s","conditions":[%s]}`, name, controller, conditions)
	}
	const (
		yes     = `{"type":"Accepted","status":"True","reason":"Accepted","observedGeneration":3}`
		old     = `{"type":"Accepted","status":"True","reason":"Accepted","observedGeneration":2}`
		no      = `{"type":"Accepted","status":"False","reason":"NotAllowedByListeners","message":"no","observedGeneration":3}`
		refs    = `{"type":"ResolvedRefs","status":"False","reason":"RefNotPermitted","message":"no grant","observedGeneration":3}`
		kind    = `{"type":"ResolvedRefs","status":"False","reason":"InvalidKind","message":"kind","observedGeneration":3}`
		partial = `{"type":"PartiallyInvalid","status":"True","reason":"UnsupportedValue","message":"one rule","observedGeneration":3}`
		waiting = "Progressing HTTPRoutePending: HTTPRoute is waiting for gateway acceptance"
		fine    = "Ready HTTPRouteAccepted: HTTPRoute is accepted by gateway"
	)
	cases := map[string]struct {
		refs, parents []string
		want          string
	}{
		"all accept":                 {[]string{"a", "b"}, []string{parent("a", "x/y", yes), parent("b", "x/y", yes)}, fine},
		"one parent without status":  {[]string{"a", "b"}, []string{parent("a", "x/y", yes)}, waiting},
		"outdated":                   {[]string{"a"}, []string{parent("a", "x/y", old)}, waiting},
		"all reject":                 {[]string{"a"}, []string{parent("a", "x/y", no)}, "Failed NotAllowedByListeners: HTTPRoute rejected: no [InvalidSpec]"},
		"one rejects":                {[]string{"a", "b"}, []string{parent("a", "x/y", no), parent("b", "x/y", yes)}, "Degraded NotAllowedByListeners: HTTPRoute rejected: no"},
		"no grant":                   {[]string{"a"}, []string{parent("a", "x/y", yes+","+refs)}, "Failed RefNotPermitted: HTTPRoute backend not resolved: no grant [Auth]"},
		"wrong kind":                 {[]string{"a"}, []string{parent("a", "x/y", kind+","+yes)}, "Failed InvalidKind: HTTPRoute backend not resolved: kind [InvalidSpec]"},
		"partially invalid":          {[]string{"a"}, []string{parent("a", "x/y", yes+","+partial)}, "Degraded UnsupportedValue: HTTPRoute is partially invalid: one rule"},
		"status of a removed parent": {[]string{"a"}, []string{parent("a", "x/y", yes), parent("gone", "x/y", no)}, fine},
		"no report":                  {nil, nil, waiting},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for range 2 {
				route := &gatewayv1.HTTPRoute{}
				route.Namespace, route.Generation = "ns", 3
				for _, ref := range tc.refs {
					route.Spec.ParentRefs = append(route.Spec.ParentRefs, gatewayv1.ParentReference{Name: gatewayv1.ObjectName(ref)})
				}
				for _, text := range tc.parents {
					var p gatewayv1.RouteParentStatus
					vectors.Decode(t, []byte(text), &p)
					route.Status.Parents = append(route.Status.Parents, p)
				}
				if got := summary(inspect.Of(route)); got != tc.want {
					t.Errorf("got %s, want %s", got, tc.want)
				}
				content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(route)
				if err != nil {
					t.Fatal(err)
				}
				u := &unstructured.Unstructured{Object: content}
				u.SetAPIVersion("gateway.networking.k8s.io/v1")
				u.SetKind("HTTPRoute")
				if diff := cmp.Diff(summary(inspect.Of(route)), summary(inspect.Of(u))); diff != "" {
					t.Errorf("-typed +unstructured\n%s", diff)
				}
				slices.Reverse(tc.parents)
			}
		})
	}
}
