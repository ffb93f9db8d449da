package pathtemplate_test

import (
	"testing"

	"k8s.io/client-go/util/jsonpath"

	"github.com/reconcilekit/reconcilekit/routing/pathtemplate"
)

func BenchmarkRender(b *testing.B) {
	for name, template := range map[string]string{
		"metadata": "/{.metadata.namespace}/{.metadata.labels['team']}/{.metadata.name}",
		"mixed":    "/{.metadata.namespace}/{.metadata.labels['team']}/{.spec.text}",
		"query":    "/{.spec.text}/{.spec.count}/{.spec.env[0].name}",
	} {
		object := newWidget()
		b.Run(name, func(b *testing.B) {
			compiled, err := pathtemplate.Parse(template, pathtemplate.Options{})
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
			var cache pathtemplate.Cache
			b.ReportAllocs()
			for b.Loop() {
				if _, err := render(template, object, pathtemplate.Options{Cache: &cache}); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run(name+"/parsed each time", func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := render(template, object, pathtemplate.Options{}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkReference measures a path of three expressions compiled and evaluated by the jsonpath package in each
// reconciliation, without the other steps of rendering. Compare BenchmarkRender/mixed with it, in the same run.
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

// BenchmarkHostile measures the most expensive templates on an object of the largest size that the API server accepts.
func BenchmarkHostile(b *testing.B) {
	object := newLargeWidget()
	for name, template := range hostileTemplates() {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := render(template, object, pathtemplate.Options{Encoded: true}); err == nil {
					b.Fatal("rendered")
				}
			}
		})
	}
}
