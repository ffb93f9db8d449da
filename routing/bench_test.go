package routing_test

import (
	"testing"

	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"

	"github.com/reconcilekit/reconcilekit/routing"
)

func BenchmarkTimeout(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		d, err := routing.ParseTimeout("1h30m")
		if err != nil {
			b.Fatal(err)
		}
		if _, err := routing.FormatTimeout(d); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkNewHTTPRoute(b *testing.B) {
	root, timeout := "/", gatewayv1.Duration("30s")
	plan := routing.Route{
		Namespace: "team-a", Name: "demo", Labels: map[string]string{"app": "demo"}, Parents: []gatewayv1.ParentReference{{Name: "public"}},
		Rules: []routing.Rule{{
			Matches: []routing.Match{{Path: "/team-a/demo"}}, ReplacePrefix: &root, Timeout: &timeout,
			Backends: []routing.Backend{{Name: "demo", Port: 80}},
		}},
	}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := routing.NewHTTPRoute(plan); err != nil {
			b.Fatal(err)
		}
	}
}
