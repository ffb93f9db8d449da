package routing_test

import (
	"math/rand/v2"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/jsonpath"
	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"

	"github.com/reconcilekit/reconcilekit/routing"
)

func BenchmarkRender(b *testing.B) {
	for name, template := range map[string]string{
		"metadata": "/{.metadata.namespace}/{.metadata.labels['team']}/{.metadata.name}",
		"mixed":    "/{.metadata.namespace}/{.metadata.labels['team']}/{.spec.text}",
		"query":    "/{.spec.text}/{.spec.count}/{.spec.env[0].name}",
	} {
		object := newWidget()
		b.Run(name, func(b *testing.B) {
			compiled, err := routing.ParsePath(template)
			if err != nil {
				b.Fatal(err)
			}
			b.ReportAllocs()
			for b.Loop() {
				if _, err := compiled.Render(object); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run(name+"/cached", func(b *testing.B) {
			var cache routing.PathCache
			b.ReportAllocs()
			for b.Loop() {
				if _, err := routing.RenderPath(template, object, &cache); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run(name+"/parsed each time", func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := routing.RenderPath(template, object); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkReference is what a path of three expressions costs when each pass compiles and runs them by jsonpath, without
// anything else that rendering does: the figure to hold BenchmarkRender/mixed against, in the same run.
func BenchmarkReference(b *testing.B) {
	object := newWidget()
	b.ReportAllocs()
	for b.Loop() {
		for _, expression := range []string{"{.metadata.namespace}", "{.metadata.labels.team}", "{.spec.text}"} {
			query := jsonpath.New("path")
			if err := query.Parse(expression); err != nil {
				b.Fatal(err)
			}
			if results, err := query.FindResults(object); err != nil || len(results) != 1 {
				b.Fatal(results, err)
			}
		}
	}
}

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

func BenchmarkDecide(b *testing.B) {
	random := rand.New(rand.NewPCG(1, 1))
	claims := make([]routing.Claim, 1000)
	for i := range claims {
		id := types.UID(rune('a'+i%26)) + types.UID(rune('a'+i/26%26)) + types.UID(rune('a'+i/676))
		claims[i] = routing.Claim{
			Owner:  routing.Claimant{Namespace: "ns", Name: string(id), UID: id, Created: time.Unix(random.Int64N(1e6), 0)},
			Parent: routing.ClaimedParent{Namespace: "infra", Name: "public"},
			Path:   "/" + string(id),
		}
	}
	b.ReportAllocs()
	for b.Loop() {
		if len(routing.Decide(claims).Lost()) != 0 {
			b.Fatal("distinct paths conflict")
		}
	}
}

// BenchmarkHostile is what templates cost that ask for as much as they can, on an object as large as the API server accepts.
func BenchmarkHostile(b *testing.B) {
	object := newLargeWidget()
	for name, template := range hostileTemplates() {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := routing.RenderPath(template, object, routing.EncodedSegments); err == nil {
					b.Fatal("rendered")
				}
			}
		})
	}
}
