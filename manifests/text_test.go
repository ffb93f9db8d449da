package manifests_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/reconcilekit/reconcilekit/internal/casecost"
	"github.com/reconcilekit/reconcilekit/manifests"
)

const configMap = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: x\n"

// textPlaces has positions in a template where a text can be inserted, and the expected change of the object.
var textPlaces = map[string]struct {
	template string
	want     func(o *corev1.ConfigMap, text string)
}{
	"name": {"apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: {{.}}\n", func(o *corev1.ConfigMap, text string) { o.Name = text }},
	"namespace, with a suffix": {
		configMap + "  namespace: {{.}}-sandbox\ndata: {a: b}\n",
		func(o *corev1.ConfigMap, text string) {
			o.Namespace = text + "-sandbox"
			o.Data = map[string]string{"a": "b"}
		},
	},
	"namespace, before a comment": {
		configMap + "  namespace: {{.}} # of the tenant\n", func(o *corev1.ConfigMap, text string) { o.Namespace = text },
	},
	"with a prefix": {configMap + "  namespace: a{{.}}\n", func(o *corev1.ConfigMap, text string) { o.Namespace = "a" + text }},
	"twice":         {configMap + "  namespace: {{.}}{{.}}\n", func(o *corev1.ConfigMap, text string) { o.Namespace = text + text }},
	"in single quotes": {
		configMap + "  namespace: 'a {{.}}'\n", func(o *corev1.ConfigMap, text string) { o.Namespace = "a " + text },
	},
	"in double quotes": {
		configMap + "  namespace: \"{{.}}\"\n", func(o *corev1.ConfigMap, text string) { o.Namespace = text },
	},
	"after a backslash": {
		configMap + "  namespace: \"\\\\{{.}}\"\n", func(o *corev1.ConfigMap, text string) { o.Namespace = `\` + text },
	},
	"in a block": {
		configMap + "data:\n  a: |-\n    first\n    {{.}}\n    last\n  b: c\n",
		func(o *corev1.ConfigMap, text string) {
			o.Data = map[string]string{"a": "first\n" + text + "\nlast", "b": "c"}
		},
	},
	"in a folded block": {
		configMap + "data:\n  a: >-\n    {{.}}\n  b: c\n",
		func(o *corev1.ConfigMap, text string) { o.Data = map[string]string{"a": text, "b": "c"} },
	},
	"in a flow map": {
		configMap + "data: {a: {{.}}, b: c}\n",
		func(o *corev1.ConfigMap, text string) { o.Data = map[string]string{"a": text, "b": "c"} },
	},
	"in a list": {
		configMap + "  finalizers:\n  - {{.}}\n  - b\n", func(o *corev1.ConfigMap, text string) { o.Finalizers = []string{text, "b"} },
	},
	"as a key": {configMap + "data:\n  {{.}}: c\n", func(o *corev1.ConfigMap, text string) { o.Data = map[string]string{text: "c"} }},
	"as a key, next to another key": {
		configMap + "data:\n  {{.}}: c\n  b: d\n",
		func(o *corev1.ConfigMap, text string) { o.Data = map[string]string{text: "c", "b": "d"} },
	},
	"in a comment": {configMap + "# of {{.}}\n", func(*corev1.ConfigMap, string) {}},
	"quoted": {
		configMap + "data:\n  a: {{quote .}}\n", func(o *corev1.ConfigMap, text string) { o.Data = map[string]string{"a": text} },
	},
	"quoted in a flow map": {
		configMap + "data: {a: {{quote .}}, {{quote .}}: c}\n",
		func(o *corev1.ConfigMap, text string) {
			o.Data = map[string]string{"a": text}
			o.Data[text] = "c"
		},
	},
	"quoted inside quotes": {
		configMap + "data: {a: \"{{quote .}}\"}\n", func(o *corev1.ConfigMap, text string) { o.Data = map[string]string{"a": `"` + text + `"`} },
	},
	"quoted in a comment": {configMap + "# {{quote .}}\n", func(*corev1.ConfigMap, string) {}},
	"as JSON":             {configMap + "data: {a: {{json .}}}\n", func(o *corev1.ConfigMap, text string) { o.Data = map[string]string{"a": text} }},
	"printed": {
		configMap + "data: {a: {{printf \"%s.%s\" . . | quote}}}\n",
		func(o *corev1.ConfigMap, text string) { o.Data = map[string]string{"a": text + "." + text} },
	},
	"before a block": {
		configMap + "data:\n  a: {{.}}\n  b: |\n    {{quote .}}\n",
		func(o *corev1.ConfigMap, text string) {
			o.Data = map[string]string{"a": text, "b": `"` + text + "\"\n"}
		},
	},
	"in a condition": {
		configMap + "{{if .}}\ndata: {a: {{.}}}\n{{end}}",
		func(o *corev1.ConfigMap, text string) {
			if text != "" {
				o.Data = map[string]string{"a": text}
			}
		},
	},
}

// hostileTexts are texts of a user that YAML or the renderer could misinterpret.
var hostileTexts = []string{
	"", "web-1", "a b", "a: b", "a:", "- a", "-", "---", "...", "a\n---\nb", "a\nkind: Secret", "a\n  namespace: kube-system", "a #b", "#",
	"kube-system\x01cm.yaml:1\x01", "a\x01b", "\x01", "\x00", "a\x00\nkind: Secret", "\x7f", "\u0085", "\u2028", "\ufeff", "\ufffd", "\xff", "a\xffb",
	"null", "~", "Null", "ull", "true", "yes", "on", "NO", "y", "010", "10", "1e3", "0x1f", "1_000", ".inf", "1.10", "2020-01-01", "12:30:45",
	"<<", "=", "&a", "*a", "!!binary YQ==", "!x", "|", ">", "|2", "%YAML 1.1", "@", "`", "[", "]", "{", "}", "{a: b}", "[a]", ",", "a, b: c", "a, namespace: b",
	"\"", "'", "\"a\"", "'a'", "a', 'b", "a\", \"b", "\\", "\\n", "n", "a\\", "\t", "a\t", " a", "a ", "a\r", "a\rb: c", "\r\nb: c", "b: |\n c", "? a", "é", "\u65e5\u672c", "😀",
	", b: ", `", b: "`, "b", "x\n", "\n", "a\n    b", "{{.}}", "v", "verylong" + strings.Repeat("x", 2000),
}

// checkText renders a text at every position, and checks that the object has the text there and nowhere else, or that
// there is an error.
func checkText(t *testing.T, sets map[string]*manifests.Set, text string) {
	t.Helper()
	for place, test := range textPlaces {
		var got manifests.Object
		var err error
		casecost.Check(t, func() { got, err = sets[place].Render("x.yaml", text) })
		if err != nil {
			if located := (*manifests.Error)(nil); !errors.As(err, &located) {
				t.Errorf("%s: %q gives %T, want a manifests.Error: %v", place, text, err, err)
			}
			continue
		}
		want := &corev1.ConfigMap{
			TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "ConfigMap"}, ObjectMeta: metav1.ObjectMeta{Name: "x"},
		}
		test.want(want, text)
		if diff := cmp.Diff(want, typed[corev1.ConfigMap](t, got)); diff != "" {
			t.Errorf("%s: the text %q is rendered as another value (-want +got):\n%s", place, text, diff)
		}
	}
}

func textSets(t testing.TB) map[string]*manifests.Set {
	t.Helper()
	sets := map[string]*manifests.Set{}
	for place, test := range textPlaces {
		sets[place] = parse(t, map[string]string{"x.yaml": test.template})
	}
	return sets
}

func TestTexts(t *testing.T) {
	t.Parallel()
	sets := textSets(t)
	for _, text := range hostileTexts {
		checkText(t, sets, text)
	}
}

// FuzzTexts searches for a text that is rendered as another value.
func FuzzTexts(f *testing.F) {
	for _, text := range hostileTexts {
		f.Add(text)
	}
	sets := textSets(f)
	f.Fuzz(func(t *testing.T, text string) {
		if len(text) <= costly {
			checkText(t, sets, text)
		}
	})
}

// TestTextsThatRender checks that harmless texts need no quotes, and that quote and json accept every text.
func TestTextsThatRender(t *testing.T) {
	t.Parallel()
	sets := textSets(t)
	for place, texts := range map[string][]string{
		"name":                        {"web-1", "a.b", "a b", "é", "1-web", "2020-01-01", ""},
		"namespace, with a suffix":    {"web", "10", "null", "true", "a_b/c"},
		"namespace, before a comment": {"web"},
		"in a block":                  {"a: b", "# a", "- x", "{"},
		"as a key":                    {"web", "a.b", "10"},
		"in a list":                   {"web", "a/b"},
		"in a comment":                {"anything: [", "#"},
		"quoted in a comment":         {"a"},
	} {
		for _, text := range texts {
			if _, err := sets[place].Render("x.yaml", text); err != nil {
				t.Errorf("%s: %q: %v", place, text, err)
			}
		}
	}
	for _, text := range hostileTexts {
		for _, place := range []string{"quoted", "as JSON", "printed"} {
			_, err := sets[place].Render("x.yaml", text)
			if valid := !strings.Contains(text, "\xff"); valid != (err == nil) {
				t.Errorf("%s: %q: %v", place, text, err)
			}
		}
	}
}

func TestTextErrors(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct{ template, text, want string }{
		"Structure": {
			configMap + "  namespace: {{.}}\n", "a\ndata: {b: c}", "x.yaml:1: a value would change the structure of the document; use json or quote for it",
		},
		"Reads":  {configMap + "data:\n  a: {{.}}\n", "a #b", `x.yaml:6: the value "a #b" reads as "a" in YAML; use json or quote for it`},
		"Type":   {configMap + "data:\n  a: {{.}}\n", "null", `x.yaml:6: the value "null" reads as <nil> in YAML, which is not a string; use json or quote for it`},
		"Octal":  {configMap + "data:\n  a: {{.}}\n", "010", `x.yaml:6: the value "010" reads as 8 in YAML, which is not a string`},
		"Word":   {configMap + "data:\n  a: {{.}}\n", "yes", `x.yaml:6: yaml: "yes" reads as a boolean in YAML 1.1 and as a string in YAML 1.2`},
		"Inside": {configMap + "data:\n  a: b{{quote .}}\n", "c", "x.yaml:6: a JSON value is inside another text"},
		"Alias":  {configMap + "data: &a\n  a: b\nbinaryData: *{{.}}\n", "a", "x.yaml:1: "},
		"Bytes":  {configMap + "data: {a: {{quote .}}}\n", "\xff", "x.yaml:5: executing"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := parse(t, map[string]string{"x.yaml": test.template}).Render("x.yaml", test.text)
			if err == nil || !strings.HasPrefix(err.Error(), test.want) {
				t.Errorf("want %s\ngot  %v", test.want, err)
			}
		})
	}
}
