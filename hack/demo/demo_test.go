package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/yaml"
)

func TestParseFlow(t *testing.T) {
	t.Parallel()

	page := `# shop: Dataflow

| Type | GVK | Source |
| --- | --- | --- |
| For | example.com/v1/Shop | shop.go:1 |
| For | example.com/v1/Shop | other.go:1 |
| Owns | /v1/ConfigMap | shop.go:2 |
| Watches | /v1/Secret | shop.go:3 |

| Controller | Field Manager |
| --- | --- |
| shop | shop |
`

	got, err := parseFlow(page)
	if err != nil {
		t.Fatal(err)
	}

	want := flow{
		owners:   []schema.GroupVersionKind{{Group: "example.com", Version: "v1", Kind: "Shop"}},
		children: []schema.GroupVersionKind{{Version: "v1", Kind: "ConfigMap"}},
	}
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(flow{})); diff != "" {
		t.Errorf("flow (-want +got):\n%s", diff)
	}

	for page, want := range map[string]string{"nothing here": "no watches table", "| For | Shop | x |": "want group/version/kind"} {
		if _, err := parseFlow(page); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("parseFlow(%q): want an error with %q, got %v", page, want, err)
		}
	}
}

// writeProduct writes an example with a CRD of its own and one of another project.
func writeProduct(t *testing.T) string {
	t.Helper()

	root := t.TempDir()
	crd := "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {name: "
	files := map[string]string{
		"main.go":                      "package main",
		"config/crd/shops.yaml":        crd + "shops.example.com}\n",
		"config/foreign/gadgets.yaml":  crd + "gadgets.example.org}\n",
		"config/kustomization.yaml":    "kind: Kustomization\nmetadata: {name: all}\n",
		"config/samples/2-second.yaml": "kind: Shop\nmetadata: {name: b}\n---\n# nothing\n---\nkind: Shop\nmetadata: {name: c}\n",
		"config/samples/1-first.yaml":  "kind: Shop\nmetadata: {name: a}\n",
		"config/samples/notes.txt":     "not a manifest",
		"demo/objects/late.yaml":       "kind: Shop\nmetadata: {name: d}\n",
		"demo/script.yaml":             "steps: [{say: now}, {say: then, apply: [Shop/b, Shop/d], see: [{apiVersion: v1, kind: Shop, name: b, gone: true}]}]\n",
	}

	for name, content := range files {
		path := filepath.Join(root, "examples", "shop", name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}

		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}

	return root
}

func TestReadProduct(t *testing.T) {
	t.Parallel()

	root := writeProduct(t)

	p, err := readProduct(root, "shop")
	if err != nil {
		t.Fatal(err)
	}

	names := func(manifests []manifest) string {
		var all []string
		for _, m := range manifests {
			all = append(all, m.object.GetName())
		}

		return strings.Join(all, " ")
	}

	got := map[string]string{"crds": names(p.crds), "foreign": names(p.foreign), "samples": names(p.samples)}
	want := map[string]string{"crds": "shops.example.com", "foreign": "gadgets.example.org", "samples": "a b c d"}

	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("manifests (-want +got):\n%s", diff)
	}

	if p.standin {
		t.Error("standin is true without a stand-in folder")
	}

	if opening := names(p.script.opening(p.samples)); opening != "a c" {
		t.Errorf("the script applies b and d later: want a and c at first, got %s", opening)
	}

	for _, name := range []string{"shoe", "../examples/shop", ""} {
		if _, err := readProduct(root, name); err == nil || !strings.Contains(err.Error(), "want PRODUCT to be one of: shop") {
			t.Errorf("readProduct(%q): want an error that lists the products, got %v", name, err)
		}
	}
}

// findRepository returns the root of the repository.
func findRepository(t *testing.T) string {
	t.Helper()

	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}

	root, err := repository(dir)
	if err != nil {
		t.Fatal(err)
	}

	return root
}

// TestRealProducts reads the products in examples/, so that a product that the demo cannot run fails this test.
func TestRealProducts(t *testing.T) {
	t.Parallel()

	root := findRepository(t)

	for _, name := range productNames(root) {
		p, err := readProduct(root, name)
		if err != nil {
			t.Error(err)

			continue
		}

		if p.serverOnly("quota") || p.serverOnly("") != (name == "aim") {
			t.Errorf("examples/%s: want the aim demo alone to need no other component, unless it shows a failure", name)
		}

		if len(p.crds) == 0 {
			t.Errorf("examples/%s/config/crd has no CRD", name)
		}
	}
}

func object(t *testing.T, manifest string) *unstructured.Unstructured {
	t.Helper()

	data, err := yaml.YAMLToJSON([]byte(manifest))
	if err != nil {
		t.Fatal(err)
	}

	u := &unstructured.Unstructured{}
	if err := u.UnmarshalJSON(data); err != nil {
		t.Fatal(err)
	}

	return u
}

func TestReadyNeedsTheCurrentGeneration(t *testing.T) {
	t.Parallel()

	const shop = `{kind: Shop, metadata: {name: a, generation: 2}, status: {conditions: [{type: Ready, status: "`

	cases := map[string]bool{
		shop + `True", observedGeneration: 2}]}}`:                       true,
		shop + `True", observedGeneration: 1}]}}`:                       false,
		shop + `False", observedGeneration: 2}]}}`:                      false,
		`{kind: Shop, metadata: {name: a}}`:                             false,
		`{kind: Shop, metadata: {name: a}, status: {available: true}}`:  true,
		`{kind: Shop, metadata: {name: a}, status: {available: false}}`: false,
	}
	for manifest, want := range cases {
		if got := newActor(object(t, manifest), 0).ready; got != want {
			t.Errorf("%s: ready = %t, want %t", manifest, got, want)
		}
	}
}

func TestChildrenFollowOwnerReferences(t *testing.T) {
	t.Parallel()

	all := []*unstructured.Unstructured{
		object(t, `{kind: Pod, metadata: {name: p, uid: "3", ownerReferences: [{uid: "2"}]}, status: {phase: Pending}}`),
		object(t, `{kind: ReplicaSet, metadata: {name: r, uid: "2", ownerReferences: [{uid: "1"}]}}`),
		object(t, `{kind: Pod, metadata: {name: stranger, uid: "4"}}`),
	}

	var got []string
	for _, a := range appendChildren(nil, all, types.UID("1"), 1) {
		got = append(got, strings.Repeat(">", a.depth)+a.kind+" "+a.key)
	}

	if diff := cmp.Diff([]string{">ReplicaSet r", ">>Pod p"}, got); diff != "" {
		t.Errorf("tree (-want +got):\n%s", diff)
	}
}

// TestReasons checks the messages that users read when the demo fails.
func TestReasons(t *testing.T) {
	t.Parallel()

	owner := newActor(object(t, `{kind: Shop, metadata: {name: a, namespace: x}, status: {conditions: [
		{type: Ready, status: "False", reason: NoStock, message: order some},
		{type: ConfigValid, status: "True", reason: Fine}]}}`), 0)
	silent := newActor(object(t, `{kind: Shop, metadata: {name: b}}`), 0)

	want := "Shop x/a is not ready:\n  Ready=False NoStock: order some\nShop b is not ready:\n" +
		"  no conditions: the operator has not written its status"
	if diff := cmp.Diff(want, reasons([]actor{owner, silent}).Error()); diff != "" {
		t.Errorf("reasons (-want +got):\n%s", diff)
	}
}

func TestScreenPlainPrintsEachChangeOnce(t *testing.T) {
	t.Parallel()

	var out bytes.Buffer

	s := &screen{out: &out, size: func() (int, int) { return 0, 0 }, seen: map[string]string{}}
	waiting := newActor(object(t, `{kind: Shop, metadata: {name: a}}`), 0)
	ready := newActor(object(t, `{kind: Shop, metadata: {name: a}, status: {conditions: [
		{type: Ready, status: "True", reason: Open, message: come in}]}}`), 0)

	s.draw(0, []actor{waiting})
	s.draw(time.Second, []actor{waiting})
	s.draw(1500*time.Millisecond, []actor{ready})
	s.draw(2*time.Second, []actor{ready})

	want := "   0.0s Shop a: no conditions yet\n   1.5s Shop a Ready: True Open: come in\n"
	if diff := cmp.Diff(want, out.String()); diff != "" {
		t.Errorf("output (-want +got):\n%s", diff)
	}
}

func TestScreenLiveRedrawsInPlaceAndNeverWraps(t *testing.T) {
	t.Parallel()

	var out bytes.Buffer

	s := &screen{out: &out, size: func() (int, int) { return 60, 6 }, seen: map[string]string{}}
	long := newActor(object(t, `{kind: Shop, metadata: {name: `+strings.Repeat("long", 30)+`}, status: {conditions: [
		{type: Ready, status: "False", reason: `+strings.Repeat("Reason", 20)+`}]}}`), 0)
	child := newActor(object(t, `{kind: ConfigMap, metadata: {name: `+strings.Repeat("child", 30)+`}}`), 1)

	actors := []actor{long, child, child, child, child}
	s.draw(0, actors)

	first := out.String()
	for line := range strings.SplitSeq(strings.TrimSuffix(first, "\n"), "\n") {
		if got := len([]rune(line)); got > 60 {
			t.Errorf("a line of %d cells wraps at 60: %q", got, line)
		}
	}

	if got := strings.Count(first, "\n"); got != 5 || !strings.Contains(first, "… 3 more lines") {
		t.Errorf("want 5 lines with a note about 3 more on a terminal of 6, got %d:\n%s", got, first)
	}

	out.Reset()
	s.draw(0, actors)

	if !strings.HasPrefix(out.String(), "\x1b[5A\x1b[J") {
		t.Errorf("the second screen does not replace the first: %q", out.String())
	}
}

func TestRequestCounts(t *testing.T) {
	t.Parallel()

	text := `# TYPE rest_client_requests_total counter
rest_client_requests_total{code="200",host="h",method="GET"} 7
rest_client_requests_total{code="404",host="h",method="GET"} 1
rest_client_requests_total{code="201",host="h",method="POST"} 2
`

	parser := expfmt.NewTextParser(model.UTF8Validation)

	families, err := parser.TextToMetricFamilies(strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}

	got := countRequests(families[requestsMetric])
	if diff := cmp.Diff("10 (8 GET, 2 POST)", got.String()); diff != "" {
		t.Errorf("counts (-want +got):\n%s", diff)
	}

	if diff := cmp.Diff("1 (1 GET)", got.minus(requestCounts{"GET": 7, "POST": 2}).String()); diff != "" {
		t.Errorf("difference (-want +got):\n%s", diff)
	}

	if got := (requestCounts{"GET": 1}).minus(requestCounts{"GET": 9}).String(); got != "none" {
		t.Errorf("after a restart want none, got %s", got)
	}
}

// TestProgramRestarts kills a shell that runs as the program, and checks that it is restarted.
func TestProgramRestarts(t *testing.T) {
	t.Parallel()

	var out bytes.Buffer

	p := &program{
		name: "operator", binary: "/bin/sh", args: []string{"-c", "echo up; exec sleep 600"},
		log: filepath.Join(t.TempDir(), "log"),
		out: &screen{out: &out, size: func() (int, int) { return 0, 0 }, seen: map[string]string{}},
	}
	if err := p.start(); err != nil {
		t.Fatal(err)
	}

	first := p.pid()
	if err := p.process.Kill(); err != nil {
		t.Fatal(err)
	}

	for deadline := time.Now().Add(time.Minute); p.pid() == first; time.Sleep(20 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("the program was not restarted")
		}
	}

	p.stop()

	if p.restarts != 1 || !strings.Contains(out.String(), "operator ended (signal: killed), restarting it") {
		t.Errorf("%d restarts, output %q", p.restarts, out.String())
	}

	missing := &program{name: "operator", binary: "/nonexistent", log: p.log, out: p.out}
	if err := missing.start(); err == nil || !strings.Contains(err.Error(), "start operator") {
		t.Errorf("a missing program: want an error, got %v", err)
	}
}

func TestReadScriptErrors(t *testing.T) {
	t.Parallel()

	const seen = `see: [{apiVersion: v1, kind: Shop, name: a, gone: true}]`

	for text, want := range map[string]string{
		"steps: [{see: []}]":                                                                                       "step 1 must describe the step in one line (say)",
		`steps: [{say: "a\nb"}]`:                                                                                   "step 1 must describe the step in one line (say)",
		"steps: [{say: x, delete: [Shop/a]}]":                                                                      "step 1 is the first one",
		"steps: [{say: x}, {say: y, " + seen + "}]":                                                                "step 2 must apply, patch or delete an object",
		"steps: [{say: x}, {say: y, apply: [Shop/a]}]":                                                             "step 2 must apply, patch or delete an object, and list the expected result (see)",
		"steps: [{say: x}, {say: y, patch: [{kind: Shop}], " + seen + "}]":                                         "step 2 has a patch without apiVersion",
		"steps: [{say: x, see: [{apiVersion: v1, kind: Shop, name: a}]}]":                                          `step 1 sees "Shop a", which needs`,
		"steps: [{say: x, see: [{apiVersion: v1, kind: Shop, name: a, field: [spec]}]}]":                           `step 1 sees "Shop a spec", which needs`,
		"steps: [{say: x, see: [{apiVersion: v1, kind: Shop, name: a, gone: true, field: [spec], want: [open]}]}]": `step 1 sees "Shop a spec", which needs`,
		"acts: []": "unknown field",
	} {
		file := filepath.Join(t.TempDir(), "script.yaml")
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}

		if _, err := readScript(file); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("readScript(%q): want an error with %q, got %v", text, want, err)
		}
	}
}

// TestSightReads checks each way in which a script can read a field of an object.
func TestSightReads(t *testing.T) {
	t.Parallel()

	shop := object(t, `{kind: Shop, metadata: {name: a, generation: 2}, spec: {shelves: [{name: top, items: 3}], map: {b: 1, a: 2}, open: true}, status: {
		conditions: [{type: Ready, status: "False", reason: NoStock, message: order some, observedGeneration: 2},
			{type: Old, status: "True", reason: Fine, observedGeneration: 1}]}}`)

	type reading struct {
		Values  []string
		Message string
	}

	for name, tc := range map[string]struct {
		sight sight
		want  reading
	}{
		"a field":                        {sight{Field: []string{"spec", "open"}}, reading{[]string{"true"}, ""}},
		"an element by its name":         {sight{Field: []string{"spec", "shelves", "top", "items"}}, reading{[]string{"3"}, ""}},
		"an element by its index":        {sight{Field: []string{"spec", "shelves", "0", "name"}}, reading{[]string{"top"}, ""}},
		"no element":                     {sight{Field: []string{"spec", "shelves", "1", "name"}}, reading{[]string{"nothing"}, ""}},
		"the keys of a map":              {sight{Field: []string{"spec", "map"}}, reading{[]string{"a", "b"}, ""}},
		"below a scalar":                 {sight{Field: []string{"spec", "open", "wide"}}, reading{[]string{"nothing"}, ""}},
		"a condition":                    {sight{Condition: "Ready"}, reading{[]string{"False", "NoStock"}, "order some"}},
		"a condition of an old status":   {sight{Condition: "Old"}, reading{[]string{"no condition of this generation"}, ""}},
		"an object that must be deleted": {sight{Gone: true}, reading{[]string{"exists"}, ""}},
	} {
		values, message := tc.sight.read(shop)
		if diff := cmp.Diff(tc.want, reading{values, message}); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

func TestRounded(t *testing.T) {
	t.Parallel()

	got := map[int]int{}
	for _, total := range []int{0, 7, 55, 94, 95, 349, 1500} {
		got[total] = requestCounts{"GET": total}.rounded()
	}

	if diff := cmp.Diff(map[int]int{0: 0, 7: 7, 55: 60, 94: 90, 95: 100, 349: 300, 1500: 2000}, got); diff != "" {
		t.Errorf("rounded (-want +got):\n%s", diff)
	}
}
