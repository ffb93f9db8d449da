package manifests_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/reconcilekit/reconcilekit/internal/casecost"
	"github.com/reconcilekit/reconcilekit/manifests"
)

// bomb returns a list that aliases expand to 10^levels values.
func bomb(levels int) string {
	var b strings.Builder
	b.WriteString("a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n")
	for i := 1; i <= levels; i++ {
		alias := fmt.Sprintf("*a%d, ", i-1)
		fmt.Fprintf(&b, "a%d: &a%d [%s]\n", i, i, strings.TrimSuffix(strings.Repeat(alias, 10), ", "))
	}
	return b.String()
}

// repeated returns a value and a list of aliases of it.
func repeated(value string, times int) string {
	return "a: &a " + value + "\nl: [" + strings.Repeat("*a, ", times) + "]\n"
}

func TestLimits(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		template string
		data     any
		want     string
	}{
		"Bytes":         {configMap + "data:\n{{range .}}  k{{.}}: " + strings.Repeat("x", 100) + "\n{{end}}", 90_000, "it renders to more than 3145728 bytes, the limit of an object"},
		"Turns":         {"{{range .}}{{end}}" + configMap, 1 << 40, "the loops of the template run more than 100000 iterations, the limit"},
		"NestedTurns":   {"{{range .}}{{range $}}{{end}}{{end}}" + configMap, 1 << 40, "more than 100000 iterations"},
		"Depth":         {configMap + "data: " + strings.Repeat("[", 200) + strings.Repeat("]", 200) + "\n", nil, "nested deeper than 100 levels, the limit"},
		"Aliases":       {configMap + bomb(8), nil, "the aliases of the document give more than 262144 bytes, with 64 for each value; that is the limit"},
		"LongAliases":   {configMap + repeated(`"`+strings.Repeat("x", 10_000)+`"`, 200), nil, "give more than 262144 bytes"},
		"AliasesOfMaps": {configMap + repeated("{? "+strings.Repeat("x", 10_000)+" : 1}", 200), nil, "give more than 262144 bytes"},
		"AliasesOfKeys": {configMap + "k: &k " + strings.Repeat("x", 10_000) + "\nl: [" + strings.Repeat("{*k : 1}, ", 200) + "]\n", nil, "give more than 262144 bytes"},
		"Values":        {configMap + "l: [" + strings.Repeat("x,", 250_000) + "]\n", nil, "the document has more than 250000 values, the limit"},
		"AliasOfItself": {configMap + "data: &a [*a]\n", nil, `contains itself`},
		"ListAsKey":     {configMap + "data: {[a]: b}\n", nil, "a key is a list or a map; want a string"},
		"NullAsKey":     {configMap + "data: {null: b}\n", nil, "a key is empty or null; want a string"},
		"KeyTwice":      {configMap + "data: {8080: a, \"8080\": b}\n", nil, `key "8080" is given twice`},
		"NumberAsName":  {"apiVersion: v1\nkind: ConfigMap\nmetadata: {name: 8080}\n", nil, `field "metadata.name": want string, got number`},
		"NumberAsKind":  {"apiVersion: v1\nkind: 1\n", nil, "apiVersion and kind are required"},
		"Infinity":      {configMap + "data: {a: .inf}\n", nil, "the number .inf has no JSON representation"},
		"Tag":           {configMap + "data: {a: !x b}\n", nil, "the tag !x is not supported"},
		"Nil":           {configMap + "data: {a: {{.}}}\n", nil, "the value is nil"},
		"NilPointer":    {configMap + "data: {a: {{.}}}\n", (*string)(nil), "the value is nil"},
		"BadSecond":     {configMap + "---\na: b: c\n", nil, "mapping values are not allowed"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := parse(t, map[string]string{"x.yaml": test.template}).Render("x.yaml", test.data)
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("want %s\ngot  %.300v", test.want, err)
			}
		})
	}
}

func TestObjectsLimits(t *testing.T) {
	t.Parallel()
	const widget = "apiVersion: example.com/v1\nkind: Widget\n"
	for name, test := range map[string]struct{ stream, want string }{
		"Bytes":         {strings.Repeat("# x\n", 5<<20), "all.yaml: the stream has 20971520 bytes, at most 16777216 are allowed"},
		"Documents":     {strings.Repeat("---\na\n", 3) + strings.Repeat("--- null\n", 10_001), "all.yaml:2: "},
		"Empty":         {strings.Repeat("--- null\n", 10_001), "the stream has more than 10000 documents, the limit"},
		"Aliases":       {widget + "metadata: {name: x}\n" + bomb(8), "give more than 262144 bytes"},
		"Depth":         {widget + "metadata: {name: x}\nspec: " + strings.Repeat("{a: ", 5000) + strings.Repeat("}", 5000), "nested deeper than 100 levels"},
		"NumberAsName":  {widget + "metadata: {name: 5}\n", `all.yaml:3: field "metadata.name": want string, got number`},
		"NumberAsLabel": {widget + "metadata:\n  name: x\n  labels: {a: 5}\n", `all.yaml:5: field "metadata.labels.a": want string, got number`},
		"ListAsKey":     {widget + "metadata: {name: x}\nspec: {[a]: b}\n", "a key is a list or a map"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := manifests.Objects("all.yaml", test.stream, nil)
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("want %s\ngot  %.300v", test.want, err)
			}
		})
	}
}

// TestYAML checks that aliases, merge keys and octal numbers have the same meaning as in kubectl.
func TestYAML(t *testing.T) {
	t.Parallel()
	objects, err := manifests.Objects("x.yaml", `apiVersion: example.com/v1
kind: Widget
metadata: {name: x, labels: &l {a: b}}
spec:
  selector: *l
  merged: {<<: *l, a: c, d: e}
  mode: 0644
  when: 2020-01-01
  8080: port
  binary: !!binary YQ==
`, nil)
	if err != nil {
		t.Fatal(err)
	}
	text, err := manifests.JSON(objects[0])
	const want = `{"8080":"port","binary":"a","merged":{"a":"c","d":"e"},"mode":420,"selector":{"a":"b"},"when":"2020-01-01"}`
	if err != nil || !strings.Contains(text, want) {
		t.Errorf("got %s, %v", text, err)
	}
}

// costly is the length of the longest text that a fuzz target of this package tries. Up to this length a case may take
// at most 100 ms and 16 MiB, above it proportionally more.
const costly = 16 << 10

// FuzzObjects checks that no stream makes the decoder panic or exceed its limits.
func FuzzObjects(f *testing.F) {
	f.Add(stream)
	f.Add(bomb(9))
	f.Add(bomb(3))
	f.Add(configMap + repeated("{a: {b: c}}", 3000))
	f.Add(configMap + repeated(`"`+strings.Repeat("<", 3000)+`"`, 300))
	f.Add(strings.Repeat(configMap+"---\n", costly/len(configMap+"---\n")))
	f.Add(configMap + "l: [" + strings.Repeat("{},", costly/3-len(configMap)) + "]\n")
	f.Add("apiVersion: v1\nkind: Service\nmetadata: {name: x, <<: [&a {b: *a}]}\nspec: {ports: [{port: 0x1f}]}\n")
	f.Add("a: &a [*a]\n---\n? [x]\n: y\n")
	s := scheme(f)
	f.Fuzz(func(t *testing.T, text string) {
		if len(text) > costly {
			return
		}
		for _, known := range []bool{true, false} {
			decoding := s
			if !known {
				decoding = nil
			}
			var objects []manifests.Object
			var err error
			casecost.Check(t, func() { objects, err = manifests.Objects("x.yaml", text, decoding) })
			if located := (*manifests.Error)(nil); err != nil && !errors.As(err, &located) {
				t.Fatalf("got %T, want a manifests.Error: %v", err, err)
			}
			for _, o := range objects {
				if o.GetName() == "" || o.GetObjectKind().GroupVersionKind().Kind == "" {
					t.Errorf("an object without a name or a kind: %v", o)
				}
			}
		}
	})
}

// TestRenderConcurrently renders one set from several goroutines, and checks that each result has only its own text.
func TestRenderConcurrently(t *testing.T) {
	t.Parallel()
	set, err := manifests.Parse(fstest.MapFS{"x.yaml": {Data: []byte(configMap + "data: {a: {{.}}, b: {{quote .}}}\n")}}, scheme(t), "*.yaml")
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan error)
	for worker := range 4 {
		go func() {
			text := strings.Repeat(string(rune('a'+worker)), 10+worker)
			var wrong error
			for range 200 {
				object, err := set.Render("x.yaml", text)
				rendered, _ := manifests.JSON(object)
				if err != nil || !strings.Contains(rendered, `{"a":"`+text+`","b":"`+text+`"}`) {
					wrong = fmt.Errorf("%s, %w", rendered, err)
				}
			}
			done <- wrong
		}()
	}
	for range 4 {
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
}
