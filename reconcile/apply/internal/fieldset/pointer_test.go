package fieldset_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/fieldset"
)

func TestPlaces(t *testing.T) {
	t.Parallel()
	port := func(number int64, protocol string) map[string]any {
		return map[string]any{"port": number, "protocol": protocol, "nodePort": number + 30000}
	}
	content := map[string]any{
		"metadata": map[string]any{"labels": map[string]any{"example.com/a~b": "x", "app": "y"}},
		"spec":     map[string]any{"ports": []any{port(80, "TCP"), port(53, "UDP"), port(81, "TCP")}},
	}
	for name, test := range map[string]struct {
		paths []string
		want  [][3]any // text, pointer, value
	}{
		"NotThere": {[]string{"spec.replicas", "spec.ports[port=1]", "spec.ports[port=80].name", `metadata.labels.app.x`}, nil},
		"Name":     {[]string{`metadata.labels["example.com/a~b"]`}, [][3]any{{".metadata.labels.example.com/a~b", "/metadata/labels/example.com~1a~0b", "x"}}},
		"Item": {[]string{"spec.ports[port=53,protocol=UDP].nodePort"}, [][3]any{
			{`.spec.ports[port=53,protocol="UDP"].nodePort`, "/spec/ports/1/nodePort", int64(30053)},
		}},
		"LaterItemsFirst": {[]string{"spec.ports[protocol=TCP].nodePort", "metadata.labels.app"}, [][3]any{
			{".metadata.labels.app", "/metadata/labels/app", "y"},
			{`.spec.ports[protocol="TCP"].nodePort`, "/spec/ports/2/nodePort", int64(30081)},
			{`.spec.ports[protocol="TCP"].nodePort`, "/spec/ports/0/nodePort", int64(30080)},
		}},
		"NoneBelowAnother": {[]string{"spec.ports[port=80].nodePort", "spec.ports[port=80]", "spec.ports[protocol=TCP].nodePort"}, [][3]any{
			{`.spec.ports[protocol="TCP"].nodePort`, "/spec/ports/2/nodePort", int64(30081)},
			{`.spec.ports[port=80]`, "/spec/ports/0", port(80, "TCP")},
		}},
		"Twice": {[]string{"metadata.labels.app", "metadata.labels.app"}, [][3]any{{".metadata.labels.app", "/metadata/labels/app", "y"}}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var paths []fieldset.Path
			for _, text := range test.paths {
				path, err := fieldset.ParsePath(text)
				if err != nil {
					t.Fatal(err)
				}
				paths = append(paths, path)
			}
			var got [][3]any
			for _, p := range fieldset.Places(content, paths...) {
				got = append(got, [3]any{p.Text, p.Pointer, p.Value})
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("places (-want +got):\n%s", diff)
			}
		})
	}
}
