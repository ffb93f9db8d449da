package pathtemplate_test

import (
	"testing"

	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"

	"github.com/reconcilekit/reconcilekit/routing"
	"github.com/reconcilekit/reconcilekit/routing/pathtemplate"
)

// FuzzRender checks that each template gives an error or a path that is valid in an HTTPRoute, that the result is
// repeatable with and without the cache, and that a rendered path is unchanged when rendered as a template.
func FuzzRender(f *testing.F) {
	for _, seed := range []string{
		"/{.metadata.namespace}/{.metadata.name}", "/{.metadata.annotations['k']}/x", "/{.spec.text}", `/\{a\}`, "/a/../b", "/%2e%2e",
		"/{.spec.env[?(@.name=='k')].value}", "/{..name}", "/{.metadata.labels['k', 'l']}", "/{{}}", "//", "/{range .x}{end}", "/é/K",
		"/{.spec.embedded.hidden}", "/{.spec.since.wall}", "/{.spec.env[0:1].name}", "/{.spec.any.x}", "/{@}", "/{1}{true}",
	} {
		f.Add(seed, "Value/../x %2F#", true)
		f.Add(seed, "plain", false)
	}
	var cache pathtemplate.Cache
	f.Fuzz(func(t *testing.T, template, value string, encoded bool) {
		w := newWidget()
		w.Name, w.Spec.Text = value, value
		w.Labels["k"], w.Annotations["k"], w.Spec.Env[0].Name = value, value, value
		o := pathtemplate.Options{Encoded: encoded}
		path, err := render(template, w, o)
		again, err2 := render(template, w, pathtemplate.Options{Encoded: encoded, Cache: &cache})
		if again != path || (err == nil) != (err2 == nil) {
			t.Errorf("the cache changes %q, %v to %q, %v", path, err, again, err2)
		}
		if err != nil {
			checkOutcome(t, err, reasonInvalid, "path template")
			return
		}
		checkPath(t, path, pathtemplate.DefaultMaxBytes)
		if path == "/" {
			t.Errorf("%q collapses to the root", template)
		}
		if stable, err := render(path, nil, o); err != nil || stable != path {
			t.Errorf("%q renders as %q, %v", path, stable, err)
		}
		_, err = routing.NewHTTPRoute(routing.Route{
			Namespace: "a", Name: "b", Parents: []gatewayv1.ParentReference{{Name: "c"}},
			Rules: []routing.Rule{{Matches: []routing.Match{{Path: path}}}},
		})
		if err != nil {
			t.Error(err)
		}
	})
}

// FuzzNames compares the fast path for plain field names with JSONPath. "@" is the object itself and forces the JSONPath
// evaluation of the same path.
func FuzzNames(f *testing.F) {
	for _, seed := range []string{
		"spec.text", "spec.count", "spec.nothing", "spec.nothing.x", "metadata.labels.team", "metadata.nope", "Spec.Text", "spec.embedded",
		"spec.size", "spec.any", "spec.embedded.hidden", "kind", "spec", "metadata.creationTimestamp", "spec.text.x", "spec.since.Time.wall",
		"metadata.labels['a.b/c-d']", "spec['text']",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, names string) {
		w := newWidget()
		got, err := render("/x/{."+names+"}", w, pathtemplate.Options{})
		want, err2 := render("/x/{@."+names+"}", w, pathtemplate.Options{})
		if got != want || (err == nil) != (err2 == nil) {
			t.Errorf("{.%s} gives %q, %v; {@.%s} gives %q, %v", names, got, err, names, want, err2)
		}
	})
}
