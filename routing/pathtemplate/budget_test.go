package pathtemplate_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/reconcilekit/reconcilekit/health"
	"github.com/reconcilekit/reconcilekit/internal/casecost"
	"github.com/reconcilekit/reconcilekit/routing/pathtemplate"
)

// newLargeWidget returns an object of the largest size that the API server accepts: a list of 3,000 entries, and texts
// of 256 KiB.
func newLargeWidget() *widget {
	w := newWidget()
	for i := range 3000 {
		w.Spec.Env = append(w.Spec.Env, corev1.EnvVar{Name: fmt.Sprintf("NAME_%d", i), Value: "x"})
		w.Labels[fmt.Sprintf("label-%d", i)] = "x"
	}
	w.Spec.Text = strings.Repeat("-", 1<<18)
	w.Annotations["long"] = strings.Repeat("/", 1<<18)
	w.Spec.Any = runtime.RawExtension{Raw: []byte(`{"x":"` + strings.Repeat("x", 1<<20) + `"}`)}
	return w
}

// hostileTemplates returns short templates that are expensive to evaluate.
func hostileTemplates() map[string]string {
	stars := func(n int) string { return "['" + strings.Repeat("*','", n-1) + "*']" }
	return map[string]string{
		"unions of wildcards":           "/{.spec" + strings.Repeat(stars(100), 3) + "}",
		"few wildcards, many brackets":  "/{.spec" + strings.Repeat(stars(6), 8) + "}",
		"unions of lists":               "/{.spec.env" + strings.Repeat("[0:3000,0:3000,0:3000,0:3000]", 6) + "}",
		"descents":                      "/{" + strings.Repeat("..*", 20) + "}",
		"descent, then a field":         "/{" + strings.Repeat("..env..*", 7) + "}",
		"wildcard over a long text":     "/{.spec.text.*}",
		"filter of a list":              `/{.spec.env[?(@.name!="A")].name}`,
		"filter over a descent":         `/{..env[?(@..name!="A")].name}`,
		"filters in a row":              "/{.spec.env" + strings.Repeat("[?(@.name)]", 12) + "}",
		"many expressions":              strings.Repeat("/{..x}", 600),
		"long values":                   strings.Repeat("/{.spec.text}", 60),
		"long annotations":              strings.Repeat("/{.metadata.annotations['long']}", 60),
		"values with their own JSON":    strings.Repeat("/{.spec.any}", 60),
		"literals for each of a list":   "/{..*" + strings.Repeat("[0:9]1 2 3", 5) + "}",
		"a long list of keys":           "/{.spec['" + strings.Repeat("x','", 900) + "x']}",
		"a long path of names":          "/{@" + strings.Repeat(".x", 1800) + "}",
		"a comparison of long texts":    "/{.spec.env[?(" + strings.Repeat("@", 500) + `.name==$.name)]}`,
		"a path of brackets":            "/{" + strings.Repeat("[*]", 1300) + "}",
		"quotes":                        "/{" + strings.Repeat(`""`, 2000) + "}",
		"filters that cannot be parsed": "/{" + strings.Repeat("[?(", 1300) + "}",
	}
}

// TestBudget checks that rendering takes no more steps than the budget, and that the error names the exceeded limit.
func TestBudget(t *testing.T) {
	t.Parallel()
	for name, template := range hostileTemplates() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, budget := range []pathtemplate.Options{{}, {Steps: 50}, {Results: 3}} {
				for _, encoded := range []bool{false, true} {
					budget.Encoded = encoded
					_, err := render(template, newLargeWidget(), budget)
					if err == nil {
						t.Errorf("%+v: rendered", budget)
						continue
					}
					checkOutcome(t, err, reasonInvalid, "path template")
				}
				steps, limit := pathtemplate.Spent(template, newLargeWidget(), budget)
				allowed := budget.Steps
				if allowed == 0 {
					allowed = pathtemplate.DefaultSteps
				}
				if steps > allowed {
					t.Errorf("%+v: took %d steps", budget, steps)
				}
				if limit != nil && !strings.Contains(limit.Error(), "limit") {
					t.Errorf("%+v: %q does not name the limit", budget, limit)
				}
			}
		})
	}
}

func TestBudgetErrors(t *testing.T) {
	t.Parallel()
	stars := "['" + strings.Repeat("*','", 99) + "*']"
	for name, test := range map[string]struct {
		template, want string
		budget         pathtemplate.Options
	}{
		"steps": {
			template: "/{..nope}", budget: pathtemplate.Options{Steps: 20},
			want: `takes more than 20 steps (values visited), the limit of a template: name the field by its full path`,
		},
		"default steps":   {template: "/{..name}", budget: pathtemplate.Options{Results: 1 << 20}, want: "more than 20000 steps"},
		"results":         {template: "/{.spec.env[*].name}", budget: pathtemplate.Options{Results: 7}, want: "a step gives more than 7 values, the limit of an expression: select one value"},
		"nodes":           {template: "/{.spec" + stars + stars + stars + "}", want: "more than 64 names, keys, indices and wildcards, the limit of an expression: name the one field"},
		"expressions":     {template: strings.Repeat("/{.kind}", 65), want: "more than 64 expressions, the limit of a template"},
		"text":            {template: "/{.spec.text}", want: "a value of 262144 bytes is too long: the values of a template may have at most 16384 together: name a shorter field"},
		"negative budget": {template: "/a", budget: pathtemplate.Options{Steps: -1}, want: "a budget of -1 steps and 5000 results: use positive numbers"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := render(test.template, newLargeWidget(), test.budget)
			checkOutcome(t, err, reasonInvalid, test.want)
		})
	}
}

// nested returns nested maps with the given number of levels.
func nested(levels int) map[string]any {
	object := map[string]any{"last": "x"}
	for range levels {
		object = map[string]any{"next": object}
	}
	return object
}

func TestBudgetDepth(t *testing.T) {
	t.Parallel()
	path, err := render("/{..last}", nested(60), pathtemplate.Options{})
	if err != nil || path != "/x" {
		t.Errorf("60 levels: %q, %v", path, err)
	}
	for _, levels := range []int{70, 100_000} {
		_, err := render("/{..last}", nested(levels), pathtemplate.Options{})
		checkOutcome(t, err, reasonInvalid, "deeper than 64 levels, the limit of an expression")
	}
}

// TestBudgetAllowsUsualTemplates checks that usual paths need only a small part of the budget, even on a large object.
func TestBudgetAllowsUsualTemplates(t *testing.T) {
	t.Parallel()
	const template = `/{.metadata.namespace}/{.metadata.labels['team']}/{.spec.count}/{.spec.env[17].name}/{.spec.env[?(@.name=="NAME_99")].name}`
	steps, limit := pathtemplate.Spent(template, newLargeWidget(), pathtemplate.Options{Steps: 1 << 30})
	if limit != nil || steps > 3100*15 {
		t.Errorf("%d steps, %v", steps, limit)
	}
	path, err := render("/{..hostIP}", newWidget(), pathtemplate.Options{})
	var invalid *health.Error
	if path != "" || !errors.As(err, &invalid) || strings.Contains(invalid.Message, "limit") {
		t.Errorf("a descent through a small object gives %q, %v", path, err)
	}
}

// FuzzBudget checks that no template exceeds its budget.
func FuzzBudget(f *testing.F) {
	for _, template := range hostileTemplates() {
		f.Add(template, 0)
		f.Add(template, 100)
	}
	object := newLargeWidget()
	f.Fuzz(func(t *testing.T, template string, allowed int) {
		if allowed <= 0 || allowed > pathtemplate.DefaultSteps {
			allowed = pathtemplate.DefaultSteps
		}
		casecost.Check(t, func() {
			if steps, _ := pathtemplate.Spent(template, object, pathtemplate.Options{Steps: allowed}); steps > allowed {
				t.Errorf("%q takes %d steps of %d", template, steps, allowed)
			}
		})
		casecost.Check(t, func() { _, _ = render(template, object, pathtemplate.Options{Encoded: true}) })
	})
}

// FuzzEvaluate checks that an expression has the same result as in kubectl's evaluator, or fails in both.
func FuzzEvaluate(f *testing.F) {
	for _, seed := range []string{
		".spec.env[*].name", "..name", ".*", "..", ".metadata['name','namespace']", ".spec.env[0:2].value", ".spec.env[-1].name",
		".spec.env[::2].name", `.spec.env[?(@.name=="B")].value`, ".spec.env[?(@.name)].value", `.spec.env[?(@.value>"a")].value`,
		".spec.env[0,1].name", "..env[0].name", ".spec.count", "@", "$.kind", "1", "true", "'x'", "2.5", ".spec.env[1:0]", ".spec.env[9]",
		".metadata.labels.*", ".spec.env[*].valueFrom.fieldRef", "..*", ".spec.text.*", ".spec.env[]", ".spec.env[-9]",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		w := newWidget()
		w.Spec.Since = w.CreationTimestamp // a zero time, without a time zone that a descent would reach
		w.Spec.Embedded = nil              // this package follows embedded pointers, as encoding/json does
		here, kubectl, limited := pathtemplate.Find(text, w)
		if limited || here == kubectl {
			return
		}
		if strings.Contains(text, "?(") && strings.Contains(text, "[") && here != "error" {
			return // kubectl treats a failed index in a filter as an existing value
		}
		t.Errorf("{%s} finds\n%s, kubectl\n%s", text, here, kubectl)
	})
}
