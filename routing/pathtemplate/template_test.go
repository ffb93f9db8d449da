package pathtemplate_test

import (
	"errors"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/reconcilekit/reconcilekit/health"
	"github.com/reconcilekit/reconcilekit/routing/pathtemplate"
)

const reasonInvalid = "PathTemplateInvalid"

// widget has a field of every kind that a template may name.
type widget struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata"`
	Spec              struct {
		Text     string             `json:"text"`
		Nothing  *string            `json:"nothing"`
		Count    *int32             `json:"count"`
		Ratio    float64            `json:"ratio"`
		Size     resource.Quantity  `json:"size"`
		Port     intstr.IntOrString `json:"port"`
		Every    metav1.Duration    `json:"every"`
		Since    metav1.Time        `json:"since"`
		Env      []corev1.EnvVar    `json:"env"`
		Any      any                `json:"any"`
		Embedded *embedded          `json:"embedded"`
	} `json:"spec"`
}

type embedded struct {
	*inner
	hidden string //nolint:unused // The evaluator reaches unexported fields too.
}

type inner struct {
	Deep string
}

func newWidget() *widget {
	count := int32(3)
	w := &widget{ObjectMeta: metav1.ObjectMeta{
		Namespace: "team-a", Name: "demo", UID: "u-1",
		Labels:      map[string]string{"team": "Blue", "a.b/c-d": "Dotted", "it's": "quoted", "100%": "all"},
		Annotations: map[string]string{"path": " V1/Beta ", "climb": "a/../b", "dots": "./a/.", "hash": "a#b?c", "percent": "%2F%zz", "empty": ""},
	}}
	w.Spec.Text, w.Spec.Count, w.Spec.Ratio = "Some Text/x", &count, 1e6
	w.Spec.Size, w.Spec.Port = resource.MustParse("10Gi"), intstr.FromString("http")
	w.Spec.Every = metav1.Duration{Duration: 90 * time.Second}
	w.Spec.Since = metav1.NewTime(time.Date(2026, 1, 2, 3, 4, 5, 0, time.FixedZone("X", 3600)))
	w.Spec.Env = []corev1.EnvVar{{Name: "A", Value: "one"}, {Name: "B", Value: "two"}}
	w.Spec.Embedded = &embedded{}
	return w
}

// render parses and renders a template.
func render(template string, object any, o pathtemplate.Options) (string, error) {
	t, err := pathtemplate.Parse(template, o)
	if err != nil {
		return "", err
	}
	return t.Render(object)
}

func TestRender(t *testing.T) {
	t.Parallel()
	encoded := pathtemplate.Options{Encoded: true}
	for name, test := range map[string]struct {
		template string
		opts     pathtemplate.Options
		want     string
		wantErr  string
	}{
		"metadata":                 {template: "/{.metadata.namespace}/{.metadata.name}/{.metadata.uid}", want: "/team-a/demo/u-1"},
		"dollar":                   {template: "/{$.metadata.name}", want: "/demo"},
		"dotted label":             {template: "/{.metadata.labels.team}", want: "/blue"},
		"label with dots":          {template: "/{.metadata.labels['a.b/c-d']}", want: "/dotted"},
		"label with escaped dots":  {template: `/{.metadata.labels.a\.b/c-d}`, want: "/dotted"},
		"label with a quote":       {template: `/{.metadata.labels["it's"]}`, want: "/quoted"},
		"brackets after a space":   {template: "/{ .metadata.labels['team'] }", want: "/blue"},
		"annotation with slashes":  {template: "/x/{.metadata.annotations['path']}", want: "/x/v1/beta"},
		"dotted annotation":        {template: "/x/{.metadata.annotations.path}", want: "/x/v1-beta"},
		"empty annotation":         {template: "/x/{.metadata.annotations['empty']}/y", want: "/x/y"},
		"string":                   {template: "/{.spec.text}", want: "/some-text-x"},
		"number":                   {template: "/{.spec.count}", want: "/3"},
		"large number":             {template: "/{.spec.ratio}", want: "/1000000"},
		"quantity":                 {template: "/{.spec.size}", want: "/10gi"},
		"int or string":            {template: "/{.spec.port}", want: "/http"},
		"duration":                 {template: "/{.spec.every}", want: "/1m30s"},
		"time is in UTC":           {template: "/{.spec.since}", want: "/2026-01-02-02-04-05--0000-utc"},
		"index":                    {template: "/{.spec.env[0].name}", want: "/a"},
		"negative index":           {template: "/{.spec.env[-1].name}", want: "/b"},
		"filter":                   {template: `/{.spec.env[?(@.name=="B")].value}`, want: "/two"},
		"brace in quotes":          {template: `/{.spec.env[?(@.name=="}")].value}`, wantErr: "no results"},
		"text literal":             {template: `/{"lit"}/x`, want: "/lit/x"},
		"escaped braces":           {template: `/a\{b\}\\c`, want: "/a-b--c"},
		"dot segments are removed": {template: "/a/./../b", want: "/a/b"},
		"parent segments of an annotation are removed": {template: "/{.metadata.annotations['climb']}", want: "/a/b"},
		"root when allowed":                            {template: "/_/", opts: pathtemplate.Options{AllowRoot: true}, want: "/"},
		"limit":                                        {template: "/abc", opts: pathtemplate.Options{MaxBytes: 4}, want: "/abc"},
		"encoded path keeps the case":                  {template: "/V1.0/Foo_Bar/{.metadata.labels.team}", opts: encoded, want: "/V1.0/Foo_Bar/Blue"},
		"encoded space":                                {template: "/a b", opts: encoded, want: "/a%20b"},
		"encoded braces":                               {template: `/\{a\}`, opts: encoded, want: "/%7Ba%7D"},
		"encoded normal form":                          {template: "/%7euser/%c3%a9", opts: encoded, want: "/~user/%C3%A9"},
		"encoded value":                                {template: "/{.metadata.annotations['hash']}", opts: encoded, want: "/a%23b%3Fc"},
		"encoded percent":                              {template: "/{.metadata.annotations['percent']}", opts: encoded, want: "/%252F%25zz"},
		"encoded dots are dropped":                     {template: "/{.metadata.annotations['dots']}", opts: encoded, want: "/a"},
		"encoded repeated slashes":                     {template: "//a///b//", opts: encoded, want: "/a/b"},
		"encoded several segments":                     {template: "/{.metadata.annotations['path']}", opts: encoded, want: "/V1/Beta"},
		"encoded slash in a value":                     {template: "/{.spec.text}", opts: encoded, wantErr: `contains "/"`},
		"encoded parent segment in a value":            {template: "/{.metadata.annotations['climb']}", opts: encoded, wantErr: `segment ".."`},
		"encoded parent segment in a literal":          {template: "/a/%2e%2e/b", opts: encoded, wantErr: `segment ".."`},
		"encoded slash in literal":                     {template: "/a%2fb", opts: encoded, wantErr: `"%2F"`},
		"encoded stray percent":                        {template: "/100%", opts: encoded, wantErr: `write "%25"`},
		"root":                                         {template: "/", wantErr: `collapses to "/"`},
		"empty":                                        {template: "", wantErr: "empty path"},
		"limit exceeded":                               {template: "/abcd", opts: pathtemplate.Options{MaxBytes: 4}, wantErr: `exceeds 4 characters: shorten it by 1 bytes`},
		"bad limit":                                    {template: "/a", opts: pathtemplate.Options{MaxBytes: 2000}, wantErr: "use 1 to 1024"},
		"long template":                                {template: "/" + strings.Repeat("_", 4096), wantErr: "at most 4096"},
		"field":                                        {template: "/_", opts: pathtemplate.Options{Field: "spec.path"}, wantErr: `spec.path "/_": `},
		"nil pointer":                                  {template: "/{.spec.nothing}", wantErr: "nil value"},
		"nil interface":                                {template: "/{.spec.any}", wantErr: "nil value"},
		"missing key":                                  {template: "/{.metadata.labels['nope']}", wantErr: `label "nope" not found`},
		"missing annotation":                           {template: "/{.metadata.annotations.nope}", wantErr: "nope is not found"},
		"unknown field":                                {template: "/{.spec.nope}", wantErr: "nope is not found"},
		"map":                                          {template: "/{.metadata.labels}", wantErr: "of kind map"},
		"list":                                         {template: "/{.spec.env}", wantErr: "of kind slice"},
		"struct":                                       {template: "/{.metadata}", wantErr: "of kind struct"},
		"several results":                              {template: "/{.spec.env[*].name}", wantErr: "multiple results"},
		"loop":                                         {template: "/{range .spec.env[*]}{.name}{end}", wantErr: "loops"},
		"end alone":                                    {template: "/{end}", wantErr: "loops"},
		"bare word":                                    {template: "/{metadata.name}", wantErr: "(a field starts with a dot: .metadata)"},
		"dot without a field":                          {template: "/{.}", wantErr: "without a field name"},
		"empty braces":                                 {template: "/{}", wantErr: "expression is empty"},
		"unclosed":                                     {template: "/a/{.metadata.name", wantErr: "the brace at byte 4 is not closed"},
		"unclosed quote":                               {template: "/{.metadata.labels['a}", wantErr: "a ' in the expression that starts at byte 2 is not closed"},
		"unopened":                                     {template: "/.metadata.name}", wantErr: "a closing brace at byte 16 has no opening one"},
		"nested":                                       {template: "/{{.metadata.name}}", wantErr: "nested braces at byte 3"},
		"bad escape":                                   {template: `/a\b`, wantErr: "a backslash escapes"},
		"backslash at the end":                         {template: `/a\`, wantErr: "a backslash escapes"},
		"not closed bracket":                           {template: "/{.metadata[}", wantErr: "unterminated array"},
		"unexported field":                             {template: "/{.spec.embedded.hidden}", wantErr: "invalid value"},
		"nil embedded pointer":                         {template: "/{.spec.embedded.Deep}", wantErr: "jsonpath evaluation error"},
		"unexported in a filter":                       {template: `/{.spec.embedded[?(@.hidden=="x")]}`, wantErr: "not array or slice"},
		"index out of range":                           {template: "/{.spec.env[7].name}", wantErr: "out of bounds"},
		"union of keys of a struct":                    {template: "/{.metadata['name','namespace']}", wantErr: "multiple results"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := render(test.template, newWidget(), test.opts)
			checkOutcome(t, err, reasonInvalid, test.wantErr)
			if got != test.want {
				t.Errorf("Render(%q) = %q, want %q", test.template, got, test.want)
			}
		})
	}
}

// checkOutcome checks that there is no error, or an InvalidSpec error with the reason and a message that contains the
// text.
func checkOutcome(t *testing.T, err error, reason, want string) {
	t.Helper()
	if want == "" {
		if err != nil {
			t.Errorf("unexpected error: %v", err)
		}
		return
	}
	var invalid *health.Error
	if !errors.As(err, &invalid) {
		t.Fatalf("error = %v, want a *health.Error with %q", err, want)
	}
	if invalid.Category != health.InvalidSpec || invalid.Reason != reason {
		t.Errorf("category, reason = %s, %s, want InvalidSpec, %s", invalid.Category, invalid.Reason, reason)
	}
	if !strings.Contains(invalid.Message, want) {
		t.Errorf("message = %q, want %q in it", invalid.Message, want)
	}
	if len(invalid.Message) > 1024 {
		t.Errorf("the message has %d bytes, too many for a condition", len(invalid.Message))
	}
}

func TestRenderOtherObjects(t *testing.T) {
	t.Parallel()
	content := map[string]any{
		"metadata": map[string]any{"name": "demo", "labels": map[string]any{"a.b/c": "x"}, "annotations": map[string]any{"p": "a/b"}},
		"spec":     map[string]any{"count": int64(7), "on": true},
	}
	const template = `/{.metadata.name}/{.metadata.labels["a.b/c"]}/{.metadata.annotations['p']}/{.spec.count}/{.spec.on}`
	for name, object := range map[string]any{"map": content, "unstructured": contentHolder(content)} {
		got, err := render(template, object, pathtemplate.Options{})
		if want := "/demo/x/a/b/7/true"; err != nil || got != want {
			t.Errorf("%s: got %q, %v, want %q", name, got, err, want)
		}
	}
	_, err := render("/{.metadata.name}", nil, pathtemplate.Options{})
	checkOutcome(t, err, reasonInvalid, "failed to evaluate")
}

// contentHolder has the method that identifies unstructured objects.
type contentHolder map[string]any

func (c contentHolder) UnstructuredContent() map[string]any { return c }

func TestCacheConcurrent(t *testing.T) {
	t.Parallel()
	var cache pathtemplate.Cache
	var group sync.WaitGroup
	for range 8 {
		group.Go(func() {
			for range 200 {
				got, err := render(`/{.spec.env[?(@.name=="B")].value}/{.spec.text}`, newWidget(), pathtemplate.Options{Cache: &cache})
				if err != nil || got != "/two/some-text-x" {
					t.Errorf("got %q, %v", got, err)
				}
			}
		})
	}
	group.Wait()
	for i := range 3000 { // more templates than the capacity of the cache
		if _, err := pathtemplate.Parse("/"+strings.Repeat("a", i%150+1)+"/{.metadata.name}", pathtemplate.Options{Cache: &cache}); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := pathtemplate.Parse("/{", pathtemplate.Options{Cache: &cache}); err == nil {
		t.Error("the cache accepts an invalid template")
	}
	literal, err := render("/A", nil, pathtemplate.Options{Cache: &cache})
	encoded, err2 := render("/A", nil, pathtemplate.Options{Cache: &cache, Encoded: true})
	if literal != "/a" || encoded != "/A" || err != nil || err2 != nil {
		t.Errorf("the cache returns a template of another mode: %q, %q, %v, %v", literal, encoded, err, err2)
	}
}

func TestTemplateString(t *testing.T) {
	t.Parallel()
	const source = " /{.metadata.name} "
	template, err := pathtemplate.Parse(source, pathtemplate.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if got := template.String(); got != source {
		t.Errorf("String() = %q, want %q", got, source)
	}
}

// crdPath is the pattern of the HTTPRoute CRD for exact and prefix paths.
var crdPath = regexp.MustCompile(`^(?:[-A-Za-z0-9/._~!$&'()*+,;=:@]|[%][0-9a-fA-F]{2})+$`)

// checkPath checks a rendered path against the rules of the HTTPRoute CRD and the documentation of Render.
func checkPath(t *testing.T, path string, limit int) {
	t.Helper()
	if !strings.HasPrefix(path, "/") || !crdPath.MatchString(path) || len(path) > limit || path == "" {
		t.Errorf("path %q does not match the pattern or exceeds the limit %d", path, limit)
	}
	for _, part := range []string{"//", "/./", "/../", "%2f", "%2F", "#"} {
		if strings.Contains(path, part) {
			t.Errorf("path %q contains %q", path, part)
		}
	}
	if path != "/" && (strings.HasSuffix(path, "/") || strings.HasSuffix(path, "/.") || strings.HasSuffix(path, "/..")) {
		t.Errorf("path %q has a bad end", path)
	}
}

func TestDefault(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		object        metav1.ObjectMeta
		opts          pathtemplate.Options
		want, wantErr string
	}{
		"namespaced":      {object: metav1.ObjectMeta{Namespace: "team-a", UID: "0B5E"}, want: "/team-a/0b5e"},
		"cluster":         {object: metav1.ObjectMeta{UID: "0b5e"}, want: "/0b5e"},
		"not stored":      {wantErr: `path template "": the default path collapses to "/"`},
		"not stored, set": {opts: pathtemplate.Options{Field: "spec.path"}, wantErr: "spec.path"},
		"root allowed":    {opts: pathtemplate.Options{AllowRoot: true}, want: "/"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := pathtemplate.Default(&test.object, test.opts)
			checkOutcome(t, err, reasonInvalid, test.wantErr)
			if got != test.want {
				t.Errorf("Default() = %q, want %q", got, test.want)
			}
		})
	}
}
