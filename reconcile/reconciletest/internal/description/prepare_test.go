package description_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/manager"

	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/internal/description"
	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/internal/finding"
)

func nothing(manager.Manager) error { return nil }

func change(client.Object) {}

func owners(n int) (out []client.Object) {
	for i := range n {
		out = append(out, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: strings.Repeat("x", i+1)}})
	}
	return out
}

// TestPrepareRefuses checks that missing and contradictory fields are named.
func TestPrepareRefuses(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		system description.System
		want   string
	}{
		"no Setup":                  {description.System{Owners: owners(1)}, "Setup is required"},
		"no Owners":                 {description.System{Setup: nothing}, "Owners are required"},
		"Owners and a Singleton":    {description.System{Setup: nothing, Owners: owners(1), Singleton: &description.Singleton{}}, "Owners and Singleton are both set"},
		"accepted without a reason": {description.System{Setup: nothing, Owners: owners(1), Accepted: []finding.Acceptance{{About: "x"}}}, "want an About and a Reason"},
		"accepted without a text":   {description.System{Setup: nothing, Owners: owners(1), Accepted: []finding.Acceptance{{Reason: "x"}}}, "want an About and a Reason"},
		"broken YAML":               {description.System{Setup: nothing, Owners: owners(1), GivenYAML: "a: ["}, "GivenYAML: document 1: "},
		"missing file":              {description.System{Setup: nothing, Owners: owners(1), CRDPaths: []string{"missing.yaml"}}, "CRDPaths: stat missing.yaml"},
	} {
		if _, err := description.Prepare(c.system); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %s", name, err, c.want)
		}
	}
}

func TestPrepareFillsIn(t *testing.T) {
	t.Parallel()
	given := make([]client.Object, 1, 2)
	given[0] = owners(1)[0]
	s := description.System{Setup: nothing, Owners: owners(1), Given: given, GivenYAML: "{apiVersion: v1, kind: Secret, metadata: {name: a}}"}
	got, err := description.Prepare(s)
	if err != nil {
		t.Fatal(err)
	}
	if got.Scheme != clientgoscheme.Scheme || got.MaxPasses != 200 || len(got.Given) != 2 || got.GivenYAML != "" || got.Blueprint == nil {
		t.Errorf("got %d passes, %d given", got.MaxPasses, len(got.Given))
	}
	if got.Namespace(t) != "default" {
		t.Errorf("the namespace is %s", got.Namespace(t))
	}
	if given[:2][1] != nil || s.GivenYAML == "" {
		t.Error("the description was changed")
	}
}

func TestMayOutlive(t *testing.T) {
	t.Parallel()
	p := description.Prepared{System: description.System{Outlives: []string{"ConfigMap default/*", "Secret default/[a", "Namespace web"}}}
	for object, want := range map[string]bool{
		"ConfigMap default/a": true, "ConfigMap other/a": false, "Namespace web": true, "Namespace web2": false,
		"Secret default/[a": true, "Secret default/a": false,
	} {
		if got := p.MayOutlive(object); got != want {
			t.Errorf("%s: %t, want %t", object, got, want)
		}
	}
}

func TestParseYAML(t *testing.T) {
	t.Parallel()
	all, err := description.ParseYAML("# a comment\n---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\nnumber: 3\n---\n---\n{apiVersion: v1, kind: Secret, metadata: {name: b}}\n")
	if err != nil || len(all) != 2 || all[0].GetName() != "a" || all[1].GetName() != "b" {
		t.Fatalf("%v, %v", all, err)
	}
	if number := all[0].(*unstructured.Unstructured).Object["number"]; number != int64(3) {
		t.Errorf("a whole number is %T", number)
	}
	for text, want := range map[string]string{
		"{apiVersion: v1, kind: ConfigMap, metadata: {name: a}}\n---\n{kind: X}": "document 2: want apiVersion, kind and metadata.name",
		"{apiVersion: v1, kind: ConfigMap}":                                      "document 1: want apiVersion, kind and metadata.name",
		"{apiVersion: v1, kind: ConfigMap, metadata: {name: a}}\n---\n- a\n":     "document 2: ",
		"metadata: {name: a}": "document 1: want apiVersion, kind and metadata.name",
	} {
		if _, err := description.ParseYAML(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
	}
}

func TestReadCRDs(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	crd := func(name string) string {
		return "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {name: " + name + "}\n"
	}
	for file, text := range map[string]string{
		"a.yaml": crd("one") + "---\n" + crd("two"), "b.yaml": "kind: Service\nmetadata: {name: no}\n", "c.txt": crd("no"), "wrong/d.yaml": "a: [",
	} {
		path := filepath.Join(folder, file)
		if err := os.MkdirAll(filepath.Dir(path), 0o750); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, paths := range [][]string{{folder}, {filepath.Join(folder, "a.yaml"), filepath.Join(folder, "b.yaml")}} {
		all, err := description.ReadCRDs(paths)
		if err != nil {
			t.Fatal(err)
		}
		var names []string
		for _, one := range all {
			names = append(names, one.Name)
		}
		if diff := cmp.Diff([]string{"one", "two"}, names); diff != "" {
			t.Errorf("%v (-want +got):\n%s", paths, diff)
		}
	}
	if _, err := description.ReadCRDs([]string{filepath.Join(folder, "wrong")}); err == nil || !strings.Contains(err.Error(), "d.yaml: ") {
		t.Errorf("for an invalid file: %v", err)
	}
}

func TestInvariants(t *testing.T) {
	t.Parallel()
	web := func(replicas any) *unstructured.Unstructured {
		return &unstructured.Unstructured{Object: map[string]any{"apiVersion": "apps/v1", "kind": "Deployment", "spec": map[string]any{"replicas": replicas}}}
	}
	runs := func(d *appsv1.Deployment) bool { return d.Spec.Replicas != nil && *d.Spec.Replicas > 0 }
	deployments := appsv1.SchemeGroupVersion.WithKind("Deployment")
	for name, c := range map[string]struct {
		invariant description.Invariant
		gvk       schema.GroupVersionKind
		object    *unstructured.Unstructured
		text      string
		broken    bool
	}{
		"always, and true":                      {description.Always("it runs", runs), deployments, web(int64(1)), "it runs", false},
		"always, and false":                     {description.Always("it runs", runs), deployments, web(int64(0)), "it runs", true},
		"never, and false":                      {description.Never("it runs", runs), deployments, web(int64(0)), "never: it runs", false},
		"never, and true":                       {description.Never("it runs", runs), deployments, web(int64(1)), "never: it runs", true},
		"of another kind":                       {description.Always("it runs", runs), appsv1.SchemeGroupVersion.WithKind("StatefulSet"), web(int64(0)), "it runs", false},
		"of another version":                    {description.Always("it runs", runs), schema.GroupVersionKind{Group: "apps", Version: "v2", Kind: "Deployment"}, web(int64(0)), "it runs", true},
		"of an object that cannot be converted": {description.Always("it runs", runs), deployments, web("none"), "it runs", false},
		"of any kind":                           {description.Always("it is", func(client.Object) bool { return false }), deployments, web(int64(0)), "it is", false},
	} {
		text, broken := description.Breaks(c.invariant, clientgoscheme.Scheme, c.gvk, c.object)
		if text != c.text || broken != c.broken {
			t.Errorf("%s: %q, %t, want %q, %t", name, text, broken, c.text, c.broken)
		}
	}
}
