package manifests_test

import (
	"errors"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/reconcilekit/reconcilekit/internal/casecost"
	"github.com/reconcilekit/reconcilekit/manifests"
)

func scheme(t testing.TB) *runtime.Scheme {
	t.Helper()
	s := runtime.NewScheme()
	if err := corev1.AddToScheme(s); err != nil {
		t.Fatal(err)
	}
	return s
}

func parse(t testing.TB, files map[string]string) *manifests.Set {
	t.Helper()
	in := fstest.MapFS{}
	for name, text := range files {
		in[name] = &fstest.MapFile{Data: []byte(text)}
	}
	set, err := manifests.Parse(in, scheme(t), "*.yaml")
	if err != nil {
		t.Fatal(err)
	}
	return set
}

// typed decodes an object into a Go type.
func typed[T any](t testing.TB, object manifests.Object) *T {
	t.Helper()
	out := new(T)
	if err := manifests.Change(object, func(o *T) { *out = *o }); err != nil {
		t.Fatal(err)
	}
	return out
}

func TestRender(t *testing.T) {
	t.Parallel()
	set := parse(t, map[string]string{
		"_labels.yaml": "{{define \"labels\"}}\n    app: {{quote .Name}}\n{{- end}}",
		"config.yaml": `apiVersion: v1
kind: ConfigMap
metadata:
  name: {{.Name}}
  labels: {{- template "labels" .}}
data:
{{- range .Keys}}
  {{.}}: {{json $}}
{{- end}}
`,
	})
	type facts struct {
		Name string
		Keys []string
	}
	got, err := set.Render("config.yaml", facts{Name: "a", Keys: []string{"x"}})
	if err == nil {
		t.Fatalf("an object was accepted where a string is required: %v", got)
	}
	set = parse(t, map[string]string{"config.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: {{.Name}}}\ndata: {x: {{json .Text}}}\n"})
	got, err = set.Render("config.yaml", map[string]string{"Name": "a", "Text": "two\n\"lines\""})
	if err != nil {
		t.Fatal(err)
	}
	want := &corev1.ConfigMap{
		TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "ConfigMap"}, ObjectMeta: metav1.ObjectMeta{Name: "a"},
		Data: map[string]string{"x": "two\n\"lines\""},
	}
	if diff := cmp.Diff(want, typed[corev1.ConfigMap](t, got)); diff != "" {
		t.Errorf("rendered object (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"config.yaml"}, set.Names()); diff != "" {
		t.Errorf("names (-want +got):\n%s", diff)
	}
}

// TestErrorsNameTheLine checks that an error names the line of the template, although conditions and loops change the
// lines of the result.
func TestErrorsNameTheLine(t *testing.T) {
	t.Parallel()
	const service = "apiVersion: v1\nkind: Service\nmetadata:\n  name: x\n"
	for name, test := range map[string]struct {
		reason, template, want string
	}{
		"UnknownField": {
			reason:   "Lines that a condition leaves out still count.",
			template: service + "{{if false}}\n# gone\n# gone\n{{end}}\nspec:\n  prots: []\n",
			want:     `x.yaml:10: unknown field "spec.prots"`,
		},
		"Loop": {
			reason:   "A loop renders one template line many times.",
			template: service + "spec:\n  ports:\n{{- range .Many}}\n  - port: 1\n{{- end}}\n  typo: 1\n",
			want:     `x.yaml:10: unknown field "spec.typo"`,
		},
		"InList": {
			reason:   "The error contains the index in a list.",
			template: service + "spec:\n  ports:\n  - port: 1\n  - porty: 2\n",
			want:     `x.yaml:8: unknown field "spec.ports[1].porty"`,
		},
		"Twice": {
			reason:   "A duplicate field is an error.",
			template: service + "kind: Service\n",
			want:     "x.yaml:5: yaml: ",
		},
		"WrongType": {
			reason:   "A value of the wrong type is reported with its line.",
			template: service + "spec:\n  type: ClusterIP\n  clusterIPs: no\n",
			want:     "x.yaml:7: ",
		},
		"Syntax": {
			reason:   "Invalid YAML is reported with its line.",
			template: service + "spec:\n  a: b: c\n",
			want:     "x.yaml:6: yaml: ",
		},
		"MissingKey": {
			reason:   "A missing value is an error.",
			template: service + "{{.Unknown}}\n",
			want:     "x.yaml:5: ",
		},
		"UnknownKind": {
			reason:   "The kind must be in the scheme.",
			template: "apiVersion: v1\n\nkind: Sevice\n",
			want:     "x.yaml:3: no kind \"Sevice\"",
		},
		"NoKind":  {reason: "An object must have a kind.", template: "metadata: {}\n", want: "x.yaml:1: apiVersion and kind are required"},
		"Nothing": {reason: "A template must render an object.", template: "# only this\n", want: "x.yaml:1: it renders to nothing"},
		"Two":     {reason: "A template must render exactly one object.", template: service + "---\n" + service, want: "x.yaml:5: it renders to several documents"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			set := parse(t, map[string]string{"x.yaml": test.template})
			_, err := set.Render("x.yaml", map[string]any{"Many": []int{1, 2, 3, 4}})
			if err == nil || !strings.HasPrefix(err.Error(), test.want) {
				t.Fatalf("%s\nwant %s\ngot  %v", test.reason, test.want, err)
			}
			if located := (*manifests.Error)(nil); !errors.As(err, &located) {
				t.Errorf("got %T, want a manifests.Error", err)
			}
		})
	}
}

// TestKindWithoutType checks a kind of the scheme without a Go type: only its metadata is checked.
func TestKindWithoutType(t *testing.T) {
	t.Parallel()
	known := scheme(t)
	known.AddKnownTypeWithName(schema.GroupVersionKind{Group: "example.com", Version: "v1", Kind: "Rule"}, &unstructured.Unstructured{})
	head := "apiVersion: example.com/v1\nkind: Rule\nmetadata:\n  name: {{.}}\n"
	set, err := manifests.Parse(fstest.MapFS{
		"rule.yaml":   {Data: []byte(head + "spec: {hosts: [{{quote .}}], port: 443, weight: 0.5}\n")},
		"broken.yaml": {Data: []byte(head + "  labels: {a: 1}\n")},
	}, known, "*.yaml")
	if err != nil {
		t.Fatal(err)
	}
	got, err := set.Render("rule.yaml", "a")
	if err != nil {
		t.Fatal(err)
	}
	want := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "example.com/v1", "kind": "Rule", "metadata": map[string]any{"name": "a"},
		"spec": map[string]any{"hosts": []any{"a"}, "port": int64(443), "weight": 0.5},
	}}
	if diff := cmp.Diff(manifests.Object(want), got); diff != "" {
		t.Errorf("object (-want +got):\n%s", diff)
	}
	if got, err := set.Render("broken.yaml", "a"); err == nil || got != nil || !strings.HasPrefix(err.Error(), "broken.yaml:5: ") {
		t.Errorf("a label that is a number: %v, %v", got, err)
	}
}

func TestParseErrors(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		files   fstest.MapFS
		pattern string
		want    string
	}{
		"Syntax":  {fstest.MapFS{"a.yaml": {Data: []byte("a: 1\n{{if}}\n")}}, "*.yaml", "a.yaml:2: "},
		"NoFile":  {fstest.MapFS{}, "*.yaml", `pattern "*.yaml" matches no file`},
		"Twice":   {fstest.MapFS{"a/x.yaml": {}, "b/x.yaml": {}}, "*/x.yaml", "template b/x.yaml: the name is taken"},
		"Pattern": {fstest.MapFS{}, "[", `pattern "["`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := manifests.Parse(test.files, scheme(t), test.pattern)
			if err == nil || !strings.HasPrefix(err.Error(), test.want) {
				t.Errorf("want %s, got %v", test.want, err)
			}
		})
	}
	if _, err := parse(t, map[string]string{"a.yaml": "a: 1"}).Render("b.yaml", nil); err == nil || !strings.Contains(err.Error(), "want one of a.yaml") {
		t.Errorf("an unknown template: %v", err)
	}
}

// FuzzRender checks that no template or value causes a panic, and that the result is an object of the scheme.
func FuzzRender(f *testing.F) {
	f.Add("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: {{quote .}}}\n", "x")
	f.Add("{{range $i, $c := .}}\n{{$i}}: {{json $c}}\n{{end}}", "abc")
	s := scheme(f)
	f.Fuzz(func(t *testing.T, text, value string) {
		if len(text)+len(value) > costly {
			return
		}
		set, err := manifests.Parse(fstest.MapFS{"x.yaml": {Data: []byte(text)}}, s, "*.yaml")
		if err != nil {
			return
		}
		var object manifests.Object
		casecost.Check(t, func() { object, err = set.Render("x.yaml", value) })
		if located := (*manifests.Error)(nil); err != nil && !errors.As(err, &located) {
			t.Fatalf("got %T, want a manifests.Error: %v", err, err)
		}
		if err == nil && object.GetObjectKind().GroupVersionKind().Kind == "" {
			t.Fatal("an object without a kind")
		}
	})
}

func BenchmarkRender(b *testing.B) {
	set := parse(b, map[string]string{"x.yaml": "apiVersion: v1\nkind: Service\nmetadata: {name: {{.}}}\nspec:\n  ports:\n  - {name: http, port: 80}\n"})
	b.ReportAllocs()
	for b.Loop() {
		if _, err := set.Render("x.yaml", "a"); err != nil {
			b.Fatal(err)
		}
	}
}
